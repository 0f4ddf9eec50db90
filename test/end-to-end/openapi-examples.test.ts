// One stack for all of it: starting both services and both chains takes longer than most of what is asked of them.
import "./openapi/usual.ts";
import "./openapi/buyers.ts";
import "./openapi/people.ts";
import "./openapi/creators.ts";
import "./openapi/operators.ts";
import "./openapi/service.ts";
