// The command that adds an argument to the kernel's command line. Pure.

/** GRUB is the boot loader of nearly every machine with Debian or Fedora. */
export function kernelArgument(argument: string): string {
  return `sed -i 's/^GRUB_CMDLINE_LINUX="/&${argument} /' /etc/default/grub && update-grub && reboot`;
}
