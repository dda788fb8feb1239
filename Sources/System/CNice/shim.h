#pragma once
#include <nice/agent.h>
#include <nice/debug.h>
