import { expect, test } from "vitest";
import { adviceOnFolder } from "../../infra/dev/folder-advice.ts";

test.for([
  [Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }), /make room/],
  [new Error('FATAL:  could not write to file "pg_wal/xlogtemp.363": No space left on device'), /make room/],
  [failed("EACCES", "/state/.data"), /may write/],
  [failed("EACCES", "/state/.data/logs/marketplace.log"), /may write/],
  [failed("EACCES", "/state"), /may write/],
  [failed("EACCES", "/usr/lib/postgresql/bin/initdb"), undefined],
  [failed("EEXIST", "/state/.data-of-another"), undefined],
  [Object.assign(new Error("spawn EPERM"), { code: "EPERM" }), undefined],
  [new Error("Facilitator was ended by SIGKILL"), undefined],
] as const)("%s has the right advice", ([error, advice]) => {
  const told = adviceOnFolder(error, "/state/.data");
  if (advice) expect(told).toMatch(advice);
  else expect(told).toBeUndefined();
});

function failed(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: '${path}'`), { code, path });
}
