import { expect, test } from "vitest";
import { adviceOnFolder } from "../../infra/dev/folder-advice.ts";

test.for([
  [Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }), /make room/],
  [new Error('FATAL:  could not write to file "pg_wal/xlogtemp.363": No space left on device'), /make room/],
  [Object.assign(new Error("EACCES: permission denied, mkdir '/x'"), { code: "EACCES" }), /may write/],
  [new Error("Facilitator was ended by SIGKILL"), undefined],
] as const)("%s has the right advice", ([error, advice]) => {
  const told = adviceOnFolder(error);
  if (advice) expect(told).toMatch(advice);
  else expect(told).toBeUndefined();
});
