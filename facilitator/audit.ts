import { EnvReader } from "../shared/env.ts";
import { connect } from "../shared/postgres.ts";
import { openBucket } from "../shared/s3.ts";
import { auditRecord } from "./archive/audit.ts";
import { readArchive } from "./archive/config.ts";

const env = new EnvReader(process.env);
const url = env.url("FACILITATOR_DATABASE_URL", undefined, ["postgres:", "postgresql:"]);
const archive = readArchive(env);
env.finish("audit of the facilitator's record");
const db = connect(url, { poolMax: 2, statements: "unnamed", applicationName: "audit" });
try {
  const { objects, archived, stored, findings } = await auditRecord(db, archive && openBucket(archive.bucket));
  process.stdout.write(`${stored} records in the database, ${archived} in ${objects} objects of the archive\n`);
  for (const finding of findings) process.stdout.write(`WRONG: ${finding}\n`);
  process.stdout.write(findings.length === 0 ? "everything agrees\n" : `${findings.length} findings\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
} finally {
  await db.end();
}
