/** What to do where the folder with the stack's state cannot be written; undefined for another error. */
export function adviceOnFolder({ code, message }: NodeJS.ErrnoException): string | undefined {
  if (/ENOSPC|EDQUOT|No space left on device/.test(message)) {
    return "Its disk is full: make room, or set STACK_DATA_DIR to a folder on another one.";
  }
  const cannotWrite = code !== undefined && ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"].includes(code);
  return cannotWrite ? "Set STACK_DATA_DIR to a folder in which you may write." : undefined;
}
