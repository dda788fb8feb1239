#pragma once

/// Counts what real-time threads must not do. Linked into a program, it stands in front of the C library's allocator
/// and mutexes, and counts calls from threads whose names begin with "audio-".

/// Starts counting anew, now that everything runs.
void allocation_counter_reset(void);
long allocation_counter_allocations(void);
long allocation_counter_frees(void);
long allocation_counter_locks(void);

/// Makes the calling thread one of those that are watched.
void allocation_counter_watch_thread(void);
