/* nr.h - system call numbers that not every architecture has
 * SPDX-License-Identifier: MIT
 *
 * The one place that asks the compiler for the architecture. A call that is
 * not there is NR_NONE, which tables pass over.
 */
#ifndef WARDBOX_UAPI_NR_H
#define WARDBOX_UAPI_NR_H

#include <sys/syscall.h>

enum { NR_NONE = -1 };

#if defined(__x86_64__) && !defined(__ILP32__)
enum { NR_AUDIT_ARCH = 0xc000003e - 0x100000000, NR_PRIVATE = 0 };
#elif defined(__i386__)
enum { NR_AUDIT_ARCH = 0x40000003, NR_PRIVATE = 0 };
#elif defined(__aarch64__)
enum { NR_AUDIT_ARCH = 0xc00000b7 - 0x100000000, NR_PRIVATE = 0 };
#elif defined(__arm__)
enum { NR_AUDIT_ARCH = 0x40000028, NR_PRIVATE = 0x0f0000 };
#elif defined(__riscv) && __riscv_xlen == 64
enum { NR_AUDIT_ARCH = 0xc00000f3 - 0x100000000, NR_PRIVATE = 0 };
#else
_Static_assert(0, "no system call table for this architecture");
#endif

/* Only some architectures. */
/* Where a time had 32 bits once, musl has its own names for those calls. */
#if !defined(__NR_settimeofday) && defined(__NR_settimeofday_time32)
#define __NR_settimeofday __NR_settimeofday_time32
#endif
#if !defined(__NR_clock_settime) && defined(__NR_clock_settime32)
#define __NR_clock_settime __NR_clock_settime32
#endif

#ifndef __NR_open
#define __NR_open NR_NONE
#endif
#ifndef __NR_creat
#define __NR_creat NR_NONE
#endif
#ifndef __NR_mkdir
#define __NR_mkdir NR_NONE
#endif
#ifndef __NR_rmdir
#define __NR_rmdir NR_NONE
#endif
#ifndef __NR_unlink
#define __NR_unlink NR_NONE
#endif
#ifndef __NR_symlink
#define __NR_symlink NR_NONE
#endif
#ifndef __NR_mknod
#define __NR_mknod NR_NONE
#endif
#ifndef __NR_rename
#define __NR_rename NR_NONE
#endif
#ifndef __NR_renameat
#define __NR_renameat NR_NONE
#endif
#ifndef __NR_link
#define __NR_link NR_NONE
#endif
#ifndef __NR_chmod
#define __NR_chmod NR_NONE
#endif
#ifndef __NR_chown
#define __NR_chown NR_NONE
#endif
#ifndef __NR_lchown
#define __NR_lchown NR_NONE
#endif
#ifndef __NR_chown32
#define __NR_chown32 NR_NONE
#endif
#ifndef __NR_lchown32
#define __NR_lchown32 NR_NONE
#endif
#ifndef __NR_fchown32
#define __NR_fchown32 NR_NONE
#endif
#ifndef __NR_utime
#define __NR_utime NR_NONE
#endif
#ifndef __NR_utimes
#define __NR_utimes NR_NONE
#endif
#ifndef __NR_futimesat
#define __NR_futimesat NR_NONE
#endif
#ifndef __NR_utimensat_time64
#define __NR_utimensat_time64 NR_NONE
#endif
#ifndef __NR_openat2
#define __NR_openat2 437
#endif
#ifndef __NR_fork
#define __NR_fork NR_NONE
#endif
#ifndef __NR_vfork
#define __NR_vfork NR_NONE
#endif
#ifndef __NR_ioperm
#define __NR_ioperm NR_NONE
#endif
#ifndef __NR_modify_ldt
#define __NR_modify_ldt NR_NONE
#endif
#ifndef __NR_adjtimex
#define __NR_adjtimex NR_NONE
#endif
#ifndef __NR_clock_adjtime
#define __NR_clock_adjtime NR_NONE
#endif
#ifndef __NR_iopl
#define __NR_iopl NR_NONE
#endif
#ifndef __NR_socket
#define __NR_socket NR_NONE
#endif
#ifndef __NR_socketcall
#define __NR_socketcall NR_NONE
#endif
#ifndef __NR_ipc
#define __NR_ipc NR_NONE
#endif
#ifndef __NR_send
#define __NR_send NR_NONE
#endif
#ifndef __NR_umount
#define __NR_umount NR_NONE
#endif
#ifndef __NR_uselib
#define __NR_uselib NR_NONE
#endif
#ifndef __NR_stime
#define __NR_stime NR_NONE
#endif
#ifndef __NR_vm86
#define __NR_vm86 NR_NONE
#endif
#ifndef __NR_vm86old
#define __NR_vm86old NR_NONE
#endif
#ifndef __NR_kexec_file_load
#define __NR_kexec_file_load NR_NONE
#endif
#ifndef __NR_kexec_load
#define __NR_kexec_load NR_NONE
#endif
#ifndef __NR_settimeofday
#define __NR_settimeofday NR_NONE
#endif
#ifndef __NR_clock_settime
#define __NR_clock_settime NR_NONE
#endif
#ifdef __NR_timer_settime64
enum { NR_TIMER_SETTIME = __NR_timer_settime64 };
#else
enum { NR_TIMER_SETTIME = __NR_timer_settime };
#endif
#ifndef __NR_fcntl
#define __NR_fcntl NR_NONE
#endif
#ifndef __NR_truncate64
#define __NR_truncate64 NR_NONE
#endif
#ifndef __NR_fcntl64
#define __NR_fcntl64 NR_NONE
#endif
#ifndef __NR_clock_settime64
#define __NR_clock_settime64 NR_NONE
#endif
#ifndef __NR_shmget
#define __NR_shmget NR_NONE
#define __NR_shmat NR_NONE
#define __NR_shmctl NR_NONE
#endif
#ifndef __NR_semget
#define __NR_semget NR_NONE
#define __NR_semctl NR_NONE
#endif
#ifndef __NR_semop
#define __NR_semop NR_NONE
#endif
#ifndef __NR_semtimedop
#define __NR_semtimedop NR_NONE
#endif
#ifndef __NR_semtimedop_time64
#define __NR_semtimedop_time64 NR_NONE
#endif
#ifndef __NR_msgget
#define __NR_msgget NR_NONE
#define __NR_msgsnd NR_NONE
#define __NR_msgrcv NR_NONE
#define __NR_msgctl NR_NONE
#endif
#ifndef __NR_lookup_dcookie
#define __NR_lookup_dcookie NR_NONE
#endif
#ifndef __NR_nfsservctl
#define __NR_nfsservctl NR_NONE
#endif
#ifndef __NR__sysctl
#define __NR__sysctl NR_NONE
#endif
#ifndef __NR_create_module
#define __NR_create_module NR_NONE
#endif
#ifndef __NR_get_kernel_syms
#define __NR_get_kernel_syms NR_NONE
#endif
#ifndef __NR_query_module
#define __NR_query_module NR_NONE
#endif
#ifndef __NR_setrlimit
#define __NR_setrlimit NR_NONE
#endif
#ifndef __NR_umount2
#define __NR_umount2 NR_NONE
#endif

#endif
