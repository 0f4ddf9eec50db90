import { resolve, sep } from "node:path";

/** What to do where the folder with the stack's state cannot be written; undefined for another error. */
export function adviceOnFolder(error: NodeJS.ErrnoException, dataDirectory: string): string | undefined {
  const { code, message, path } = error;
  if (/ENOSPC|EDQUOT|No space left on device/.test(message)) {
    return "Its disk is full: make room, or set STACK_DATA_DIR to a folder on another one.";
  }
  const cannotWrite = code !== undefined && ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"].includes(code);
  if (!cannotWrite || typeof path !== "string") return undefined;
  // Or above it, where the folder cannot be made.
  const concernsFolder = isWithin(dataDirectory, path) || isWithin(path, dataDirectory);
  return concernsFolder ? "Set STACK_DATA_DIR to a folder in which you may write." : undefined;
}

/** The stack's folder cannot be used; the message says what to do. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

function isWithin(folder: string, path: string): boolean {
  const [outer, inner] = [resolve(folder), resolve(path)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}
