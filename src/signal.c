/*
 * Ignores the signal of a file that grows beyond the limit of the shell (`ulimit -f`). Runs before main.
 *
 * By default the signal kills the program without a message. Without it the write fails, as on a full disk, and the
 * error names the file.
 */

#include <signal.h>

__attribute__((constructor)) static void ignore_limit_of_files(void)
{
    signal(SIGXFSZ, SIG_IGN);
}
