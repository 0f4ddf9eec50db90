// One stack for all of it: starting both services and both chains takes longer than most of what is asked of them.
import "./credits.ts";
import "./payments.ts";
import "./command-line.ts";
