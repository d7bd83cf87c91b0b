/** A system call with a file mode, and the positions of its arguments. */
export interface ModeCall {
  number: number;
  mode: number;
  /** The position of the flags that decide whether the mode is used. Null: it is always used. */
  flags: number | null;
}

/** The system call numbers of one processor that the filter checks. */
export interface SeccompNumbers {
  /** The kernel's audit constant for the processor. */
  auditArch: number;
  clone: number;
  ioctl: number;
  fcntl: number;
  socket: number;
  socketpair: number;
  sendto: number;
  modes: readonly ModeCall[];
  /** Fail with EPERM. */
  refused: readonly number[];
  /** Fail with ENOSYS, as if the kernel did not have them, so that programs use the older calls. */
  unknown: readonly number[];
}

/**
 * io_uring, the newer mount calls, pidfd_getfd, mount_setattr, quotactl_fd, open_tree_attr: the
 * same on every processor.
 */
const NEWER_REFUSED = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 467];
/** clone3 and openat2: their flags are in memory, which a filter cannot read. */
const NEWER_UNKNOWN = [435, 437];
const FCHMODAT2: ModeCall = { number: 452, mode: 2, flags: null };

/** By processor, as Node names it. */
export const SECCOMP_NUMBERS: Readonly<Record<string, SeccompNumbers>> = {
  x64: {
    auditArch: 0xc000_003e,
    clone: 56,
    ioctl: 16,
    fcntl: 72,
    socket: 41,
    socketpair: 53,
    sendto: 44,
    modes: [
      { number: 2, mode: 2, flags: 1 }, // open
      { number: 85, mode: 1, flags: null }, // creat
      { number: 90, mode: 1, flags: null }, // chmod
      { number: 91, mode: 1, flags: null }, // fchmod
      { number: 133, mode: 1, flags: null }, // mknod
      { number: 257, mode: 3, flags: 2 }, // openat
      { number: 259, mode: 2, flags: null }, // mknodat
      { number: 268, mode: 2, flags: null }, // fchmodat
      FCHMODAT2,
    ],
    refused: [
      ...[272, 308], // unshare, setns
      ...[165, 166, 155, 161], // mount, umount2, pivot_root, chroot
      ...[248, 249, 250], // add_key, request_key, keyctl
      ...[101, 310, 311, 312], // ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[321, 298, 323], // bpf, perf_event_open, userfaultfd
      ...[246, 320], // kexec_load, kexec_file_load
      ...[175, 313, 176, 174, 177, 178], // init_module and its kin
      ...[169, 167, 168, 179, 163, 103], // reboot, swapon, swapoff, quotactl, acct, syslog
      ...[170, 171, 153], // sethostname, setdomainname, vhangup
      ...[172, 173, 154], // iopl, ioperm, modify_ldt
      ...[304, 300, 212], // open_by_handle_at, fanotify_init, lookup_dcookie
      ...[180, 156, 134], // nfsservctl, _sysctl, uselib
      ...[164, 227, 159, 305], // settimeofday, clock_settime, adjtimex, clock_adjtime
      ...NEWER_REFUSED,
    ],
    unknown: NEWER_UNKNOWN,
  },
  arm64: {
    auditArch: 0xc000_00b7,
    clone: 220,
    ioctl: 29,
    fcntl: 25,
    socket: 198,
    socketpair: 199,
    sendto: 206,
    modes: [
      { number: 33, mode: 2, flags: null }, // mknodat
      { number: 52, mode: 1, flags: null }, // fchmod
      { number: 53, mode: 2, flags: null }, // fchmodat
      { number: 56, mode: 3, flags: 2 }, // openat
      FCHMODAT2,
    ],
    refused: [
      ...[97, 268], // unshare, setns
      ...[40, 39, 41, 51], // mount, umount2, pivot_root, chroot
      ...[217, 218, 219], // add_key, request_key, keyctl
      ...[117, 270, 271, 272], // ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[280, 241, 282], // bpf, perf_event_open, userfaultfd
      ...[104, 294, 105, 273, 106], // kexec_load and _file_load; init_module and its kin
      ...[142, 224, 225, 60, 89, 116], // reboot, swapon, swapoff, quotactl, acct, syslog
      ...[161, 162, 58], // sethostname, setdomainname, vhangup
      ...[265, 262, 18, 42], // open_by_handle_at, fanotify_init, lookup_dcookie, nfsservctl
      ...[170, 112, 171, 266], // settimeofday, clock_settime, adjtimex, clock_adjtime
      ...NEWER_REFUSED,
    ],
    unknown: NEWER_UNKNOWN,
  },
};
