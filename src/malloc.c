/*
 * Bounds the memory that the allocator of glibc keeps after it was freed. Runs before main.
 *
 * A thread allocates from one of several heaps, and what it leaves in its heap is of use only to a later thread with the
 * same one. By default there may be eight heaps for each core. Their number is limited here, because the threads of an
 * ingest fill one after the other: one heap for each core and one more take a sixth less memory for 200 thousand files,
 * a quarter less for a million, and no more time. With one for each core threads wait for each other.
 *
 * By default, glibc raises both thresholds when a large block is freed, up to 32 and 64 MiB. A heap then keeps memory
 * that no other thread uses. A threshold that is set here is never raised.
 */

#define _GNU_SOURCE
#include <malloc.h>
#include <sched.h>

__attribute__((constructor)) static void bound_kept_memory(void)
{
    cpu_set_t cores;
    /* The call fails if the machine has more cores than the set has room for. */
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
        mallopt(M_ARENA_MAX, CPU_COUNT(&cores) + 1);
    }
    /* A block of at least this many bytes is mapped alone, and unmapped when it is freed. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    /* A heap returns the free bytes at its end if there are more than this. */
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
}
