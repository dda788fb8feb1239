#pragma once
#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/// What libasound last said on this thread, for error messages; it would print it to stderr otherwise.
static inline char *calsa_message(void) {
    static _Thread_local char message[256];
    return message;
}

static inline void calsa_note(const char *file, int line, const char *function, int err, const char *format, ...) {
    (void)file; (void)line; (void)function; (void)err;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(calsa_message(), 256, format, arguments);
    va_end(arguments);
}

/// Keeps libasound from writing to stderr. Each PCM here is used by one thread at a time, so libasound's own lock
/// around it (which a real-time thread should not take) is switched off unless the user set it.
static inline void calsa_prepare(void) {
    setenv("LIBASOUND_THREAD_SAFE", "0", 0);
    snd_lib_error_set_handler(calsa_note);
}

static inline const char *calsa_last_message(void) { return calsa_message(); }
static inline void calsa_clear_message(void) { calsa_message()[0] = 0; }

// What Swift's view of glibc leaves out.

static inline int calsa_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline void calsa_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
/// On Linux the nice value belongs to the thread.
static inline int calsa_nice_thread(int value) { return setpriority(PRIO_PROCESS, 0, value); }
