#define _GNU_SOURCE
#include "AllocationCounter.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static atomic_long allocations, frees, locks;
static __thread int is_audio_thread;

static int on_audio_thread(void) {
    if (is_audio_thread) return 1;
    char name[16] = "";
    if (prctl(PR_GET_NAME, name, 0, 0, 0) == 0 && strncmp(name, "audio-", 6) == 0) is_audio_thread = 1;
    return is_audio_thread;
}

static void count(atomic_long *counter) {
    if (on_audio_thread()) atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    count(&allocations);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(&allocations);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count(&allocations);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(&allocations);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count(&allocations);
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory) {
    if (memory) count(&frees);
    __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static int (*real)(pthread_mutex_t *);
    if (!real) real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    count(&locks);
    return real(mutex);
}

void allocation_counter_reset(void) {
    atomic_store(&allocations, 0);
    atomic_store(&frees, 0);
    atomic_store(&locks, 0);
}

long allocation_counter_allocations(void) { return atomic_load(&allocations); }
long allocation_counter_frees(void) { return atomic_load(&frees); }
long allocation_counter_locks(void) { return atomic_load(&locks); }

void allocation_counter_watch_thread(void) { prctl(PR_SET_NAME, "audio-watched", 0, 0, 0); }
