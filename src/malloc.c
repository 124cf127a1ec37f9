/*
 * Sets when the allocator of glibc returns freed memory to the system. Runs before main.
 *
 * By default, glibc raises both thresholds when a large block is freed, up to 32 and 64 MiB. The heap of each thread
 * of an ingest then keeps memory that no other thread uses. A threshold that is set here is never raised.
 */

#include <malloc.h>

__attribute__((constructor)) static void set_thresholds(void)
{
    /* A block of at least this many bytes is mapped alone, and unmapped when it is freed. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    /* A heap returns the free bytes at its end if there are more than this. */
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
}
