/*
 * How long a call may take, the shortest first: each leaves room for what comes after it. A proxy before the service must wait as
 * long as a client does (`timeout client` and `timeout server` in infra/deploy/haproxy.cfg), and a supervisor longer than
 * `stopTimeoutMs` (`stop_grace_period` in infra/deploy/compose.yaml, `terminationGracePeriodSeconds` in
 * infra/deploy/kubernetes/base/marketplace.yaml).
 */

/** A run of an image model. A repeated post of a payment waits as long for the run of the first. */
export const imageRunMs = 170_000;

/** A run that acts on a chain: as long as its transaction is valid, less the time to answer. */
export const chainRunMs = 175_000;

/** How long a quoted payment must be good for: as long as a Hedera transaction can be. A client waits as long for a run. */
export const maxTimeoutSeconds = 180;

/** A drawing: a model draws it, then it is traced. */
export const drawingMs = 280_000;

/** A client waits as long for a drawing. */
export const drawingWaitSeconds = 300;

/** A stop waits for the longest run. */
export const stopTimeoutMs = 330_000;
