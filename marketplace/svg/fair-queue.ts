/** The callers that wait as one: all keys of one account, or all callers at one network address. */
export type Party = string;

/** There is no room for the job; `retryAfterSeconds` is when there should be. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface Limits {
  /** Jobs that run at once. */
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Jobs of one party: running, waiting, and those it has a place for. */
  readonly partyMax: number;
  /** Places without a job. Their jobs may wait beside `waitingMax` others. */
  readonly reservedMax: number;
  /** The party that comes after all others: its jobs begin only while no other party's wait, and where there is no room they are the first to lose their place. */
  readonly last?: Party;
}

interface Job {
  /** When it began, `performance.now()` time. */
  since: number;
  /** The job has a place that no other party may take. */
  readonly isReserved: boolean;
  readonly begin: () => void;
  readonly giveUp: (reason: NoRoomError) => void;
}

/** A place in the queue for one job at a time, which counts as a job of its party until it is left. */
export interface Place {
  /** Like FairQueue's `run`, but no other party's job can take its room. */
  run<Result>(signal: AbortSignal, job: () => Promise<Result>): Promise<Result>;
  leave(): void;
}

interface Line {
  readonly waiting: Job[];
  readonly running: Set<Job>;
  /** Places without a job. */
  reserved: number;
  /** What a job of it takes, ms, as the last ones did; undefined before the first has ended. */
  usualMs: number | undefined;
}

/**
 * Takes turns between parties, so that one with many jobs delays another by the job that is running and no more. Where
 * there is no room for a party with few jobs, the one with most gives up the last it handed in. Source: round robin with
 * the longest queue dropped, as in McKenney, "Stochastic Fairness Queueing" (1990).
 */
export class FairQueue {
  /** In the order of their turns: the party that was served last is last. */
  readonly #lines = new Map<Party, Line>();
  readonly #limits: Limits;
  #running = 0;
  #waiting = 0;
  #reserved = 0;
  #learntMs: number | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get isIdle(): boolean {
    return this.#lines.size === 0;
  }

  /** How many jobs wait, and in how many seconds the next of those that run should end; 0 when none does. */
  load(): { readonly waiting: number; readonly seconds: number } {
    const seconds = this.#running === 0 ? 0 : Math.ceil(this.#msUntilEnd() / 1000);
    return { waiting: this.#waiting, seconds };
  }

  /** Throws NoRoomError if a job of this party would be refused now. */
  admit(party: Party): void {
    this.#makeRoom(party);
  }

  /**
   * Keeps a place for a job that something dear is done for first, so that it is not done in vain; others go before meanwhile. Throws
   * NoRoomError when there is none.
   */
  reserve(party: Party): Place {
    this.#requireShare(party);
    if (this.#reserved >= this.#limits.reservedMax) {
      const message = `${this.#reserved} drawings are being made, as many as may be.`;
      throw new NoRoomError(`${message} There is room again in about ${firstGuessMs / 1000} s.`, firstGuessMs / 1000);
    }
    const line = this.#lineOf(party);
    const hold = (places: 1 | -1) => {
      line.reserved += places;
      this.#reserved += places;
    };
    hold(1);
    let isLeft = false;
    return {
      run: (signal, job) => {
        hold(-1);
        return this.#runIn(line, party, signal, job, () => !isLeft && hold(1));
      },
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        hold(-1);
        this.#forgetEmpty(line, party);
      },
    };
  }

  /**
   * Runs `job` when its turn has come. Throws NoRoomError when there is none for it, also later when others need the room, and
   * the signal's reason when that aborts before the job began.
   */
  async run<Result>(party: Party, signal: AbortSignal, job: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    this.#makeRoom(party)?.();
    return this.#runIn(this.#lineOf(party), party, signal, job);
  }

  #lineOf(party: Party): Line {
    const line = this.#lines.get(party) ?? { waiting: [], running: new Set(), reserved: 0, usualMs: undefined };
    this.#lines.set(party, line);
    return line;
  }

  #forgetEmpty(line: Line, party: Party): void {
    if (jobsOf(line) === 0) this.#lines.delete(party);
  }

  async #runIn<Result>(
    line: Line,
    party: Party,
    signal: AbortSignal,
    job: () => Promise<Result>,
    holdAgain?: () => void,
  ): Promise<Result> {
    try {
      signal.throwIfAborted();
      const running = await this.#turn(line, signal, holdAgain !== undefined);
      try {
        return await job();
      } finally {
        this.#learn(line, performance.now() - running.since);
        line.running.delete(running);
        this.#running--;
        moveToEnd(this.#lines, party);
        this.#next();
      }
    } finally {
      holdAgain?.();
      this.#forgetEmpty(line, party);
    }
  }

  /** Resolves when a job of this line may begin; it counts as running then. */
  #turn(line: Line, signal: AbortSignal, isReserved: boolean): Promise<Job> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (!this.#leave(line, job)) return;
        reject(signal.reason);
      };
      const job: Job = {
        since: 0,
        isReserved,
        begin: () => {
          signal.removeEventListener("abort", stop);
          resolve(job);
        },
        giveUp: (reason) => {
          signal.removeEventListener("abort", stop);
          reject(reason);
        },
      };
      signal.addEventListener("abort", stop);
      line.waiting.push(job);
      this.#waiting++;
      this.#next();
    });
  }

  #leave({ waiting }: Line, job: Job): boolean {
    const at = waiting.indexOf(job);
    if (at < 0) return false;
    waiting.splice(at, 1);
    this.#waiting--;
    return true;
  }

  #next(): void {
    while (this.#running < this.#limits.runningMax) {
      const next = firstInTurn(this.#lines, this.#limits.last);
      if (!next) return;
      const [party, line] = next;
      const job = line.waiting.shift() as Job;
      this.#waiting--;
      this.#running++;
      job.since = performance.now();
      line.running.add(job);
      moveToEnd(this.#lines, party);
      job.begin();
    }
  }

  /** Throws NoRoomError where the party has as many jobs as it may. */
  #requireShare(party: Party): void {
    const own = this.#lines.get(party);
    const ownJobs = own ? jobsOf(own) : 0;
    if (ownJobs < this.#limits.partyMax) return;
    const seconds = Math.ceil((this.#msUntilEndOf(party) || firstGuessMs) / 1000);
    const whose = party === this.#limits.last ? "that cost nothing" : "of yours";
    throw new NoRoomError(
      `${ownJobs} drawings ${whose} are being made or wait for it, as many as may be. The next one is done in about ${seconds} s.`,
      seconds,
    );
  }

  /** A function that makes room for another job; undefined where there is room. Throws NoRoomError where nothing would help. */
  #makeRoom(party: Party): (() => void) | undefined {
    this.#requireShare(party);
    const { runningMax, waitingMax, last } = this.#limits;
    const waiting = [...this.#lines.values()].reduce((sum, line) => sum + mayLose(line), 0);
    if (this.#running < runningMax || waiting < waitingMax) return undefined;
    const own = this.#lines.get(party);
    const longest = [...this.#lines.values()].reduce((a, b) => (mayLose(b) > mayLose(a) ? b : a));
    const givesWay = last === undefined || party === last ? undefined : this.#lines.get(last);
    const gives = givesWay && mayLose(givesWay) > 0 ? givesWay : longest;
    const seconds = Math.ceil(this.#msUntilEnd() / 1000);
    const full = `${waiting} drawings wait to be made, as many as may be.`;
    if (party === last || (gives !== givesWay && mayLose(gives) <= (own ? mayLose(own) : 0) + 1)) {
      throw new NoRoomError(`${full} There is room again in about ${seconds} s.`, seconds);
    }
    return () => {
      const job = gives.waiting.findLast(({ isReserved }) => !isReserved) as Job;
      this.#leave(gives, job);
      job.giveUp(new NoRoomError(`${full} Others who have fewer there took this one's place.`, seconds));
    };
  }

  #learn(line: Line, tookMs: number): void {
    line.usualMs = mixed(line.usualMs, tookMs);
    this.#learntMs = mixed(this.#learntMs, tookMs);
  }

  #usualMs({ usualMs = this.#learntMs ?? firstGuessMs }: Line): number {
    return usualMs;
  }

  /** How long a job that is running still takes, as far as can be told. */
  #leftMs(line: Line, { since }: Job): number {
    const elapsed = performance.now() - since;
    return Math.max(this.#usualMs(line) - elapsed, elapsed / 4, 250);
  }

  #msUntilEnd(): number {
    const lefts = [...this.#lines.values()].flatMap((line) => [...line.running].map((job) => this.#leftMs(line, job)));
    return Math.min(...lefts);
  }

  /** How long until the first job of a party ends: turns are taken as they will be if no further job comes. */
  #msUntilEndOf(party: Party): number {
    const lines = new Map([...this.#lines].map(([name, line]) => [name, copyOf(line)]));
    const ends: { readonly party: Party; readonly job: Job; readonly at: number }[] = [];
    for (const [name, line] of lines) {
      for (const job of line.running) ends.push({ party: name, job, at: this.#leftMs(line, job) });
    }
    for (;;) {
      ends.sort((a, b) => b.at - a.at);
      const ended = ends.pop();
      if (!ended || ended.party === party) return ended?.at ?? 0;
      lines.get(ended.party)?.running.delete(ended.job);
      moveToEnd(lines, ended.party);
      const next = firstInTurn(lines, this.#limits.last);
      if (!next) continue;
      const [name, line] = next;
      const job = line.waiting.shift() as Job;
      line.running.add(job);
      moveToEnd(lines, name);
      ends.push({ party: name, job, at: ended.at + this.#usualMs(line) });
    }
  }
}

/**
 * The waiting party with the fewest running jobs, and among these the one served longest ago; the `last` party only where no
 * other waits. Undefined where none waits.
 */
function firstInTurn(lines: ReadonlyMap<Party, Line>, last: Party | undefined): [Party, Line] | undefined {
  let first: [Party, Line] | undefined;
  for (const entry of lines) {
    const [party, line] = entry;
    if (line.waiting.length === 0) continue;
    if (!first || first[0] === last || (party !== last && line.running.size < first[1].running.size)) first = entry;
  }
  return first;
}

const jobsOf = ({ running, waiting, reserved }: Line) => running.size + waiting.length + reserved;

/** How many of its jobs another party's may take the place of. */
const mayLose = ({ waiting }: Line) => waiting.filter(({ isReserved }) => !isReserved).length;

const copyOf = (line: Line): Line => ({ ...line, waiting: [...line.waiting], running: new Set(line.running) });

function moveToEnd(lines: Map<Party, Line>, party: Party): void {
  const line = lines.get(party) as Line;
  lines.delete(party);
  lines.set(party, line);
}

const mixed = (usual: number | undefined, last: number) => (usual === undefined ? last : 0.7 * usual + 0.3 * last);
const firstGuessMs = 5_000;
