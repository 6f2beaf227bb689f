import type { LiveFigures } from '@tallygate/contract';
import type { Principal } from '../../http/index.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import type { ReadFigures } from './read-figures.ts';

const LOOK_MS = 1_000;
/** An account may have any number of keys: between two looks there is so many times what one took, so that none keeps the process busy. */
const RESTS = 9;
/** The ledger is a second or so behind the lanes: after a change there it is asked for so many looks. */
const LOOKS_AFTER_CHANGE = 4;
/** Requests of sessions are on no key’s lane, so the ledger is asked now and then as well. */
const LOOKS_BETWEEN = 10;
const MOST_OF_ACCOUNT = 50;
const MOST = 1_000;

type OnChange = (changed: LiveFigures) => void;

interface Follower {
  readonly onChange: OnChange;
  /** Its place is given to another account. */
  readonly onEnd: () => void;
}

interface Watched {
  readonly principal: Principal;
  /** In the order in which they came. */
  readonly followers: Set<Follower>;
  /** The last of each, as text: what is the same is not sent again. */
  readonly said: Map<keyof LiveFigures, string>;
  figures: LiveFigures;
  looks: number;
  changedAt: number;
  /** Of the next look. */
  timer: NodeJS.Timeout | undefined;
}

/** One who follows; ends with `close`. */
export interface LiveAccount {
  close(): void;
}

interface LiveDeps {
  readonly read: ReadFigures;
  readonly log: Log;
}

/**
 * Accounts that are watched. All who see the same of one account share one look a second, whatever their number, and fewer where a look takes long; an
 * account that nobody watches is not looked at.
 */
export class LiveAccounts {
  readonly #deps: LiveDeps;
  /** By what is seen: who sees all of an account shares its figures, developers have theirs. */
  readonly #watched = new Map<string, Watched>();
  readonly #ofAccounts = new Map<string, number>();
  #followers = 0;

  constructor(deps: LiveDeps) {
    this.#deps = deps;
  }

  /** Everything, once. */
  async figures(principal: Principal): Promise<LiveFigures> {
    const { read } = this.#deps;
    return { budgets: await read.budgets(principal), ...(await read.settled(principal)) };
  }

  /**
   * Tells everything soon, and then what changes. Where the gateway has as many streams as it may, the account with the most gives one up for
   * one that has fewer, so that no accounts together shut others out.
   *
   * @throws Problem `rate_limited` where the account, or the gateway, has as many streams as it may
   */
  follow(principal: Principal, onChange: OnChange, onEnd: () => void): LiveAccount {
    const { accountId } = principal;
    const ofAccount = this.#ofAccounts.get(accountId) ?? 0;
    if (ofAccount >= MOST_OF_ACCOUNT) throw tooMany(`At most ${MOST_OF_ACCOUNT} streams of an account run at once: end one`);
    if (this.#followers >= MOST && !this.#givesUpOne(ofAccount))
      throw tooMany('This gateway has as many streams as it may: try again later');
    const watched = this.#watched.get(nameOf(principal)) ?? this.#begin(principal);
    const follower = { onChange, onEnd };
    watched.followers.add(follower);
    this.#followers += 1;
    this.#ofAccounts.set(accountId, ofAccount + 1);
    // Behind the head of the answer, which follows when this returns.
    queueMicrotask(() => watched.followers.has(follower) && Object.keys(watched.figures).length > 0 && onChange(watched.figures));
    return { close: () => this.#leave(watched, follower) };
  }

  /** @param few of the one who comes */
  #givesUpOne(few: number): boolean {
    const [account, most] = [...this.#ofAccounts].reduce((fullest, one) => (one[1] > fullest[1] ? one : fullest));
    const fullest = [...this.#watched.values()].find(({ principal }) => principal.accountId === account);
    const [oldest] = fullest?.followers ?? [];
    if (!fullest || !oldest || most <= few + 1) return false;
    this.#leave(fullest, oldest);
    oldest.onEnd();
    return true;
  }

  #begin(principal: Principal): Watched {
    const watched: Watched = {
      ...{ principal, followers: new Set(), said: new Map(), figures: {}, looks: 0, changedAt: 0, timer: undefined },
    };
    this.#watched.set(nameOf(principal), watched);
    void this.#look(watched);
    return watched;
  }

  #leave(watched: Watched, follower: Follower): void {
    if (!watched.followers.delete(follower)) return;
    const { accountId } = watched.principal;
    const left = (this.#ofAccounts.get(accountId) ?? 1) - 1;
    if (left > 0) this.#ofAccounts.set(accountId, left);
    else this.#ofAccounts.delete(accountId);
    this.#followers -= 1;
    if (watched.followers.size > 0) return;
    clearTimeout(watched.timer);
    this.#watched.delete(nameOf(watched.principal));
  }

  async #look(watched: Watched): Promise<void> {
    const beganTick = performance.now();
    try {
      const changed = await this.#changes(watched);
      if (Object.keys(changed).length === 0) return;
      watched.figures = { ...watched.figures, ...changed };
      for (const { onChange } of watched.followers) onChange(changed);
    } catch (error) {
      this.#deps.log.warn({ err: error, accountId: watched.principal.accountId }, 'what is spent could not be looked at');
    } finally {
      const restMs = Math.max(LOOK_MS, RESTS * (performance.now() - beganTick));
      if (watched.followers.size > 0) watched.timer = setTimeout(() => void this.#look(watched), restMs).unref();
    }
  }

  async #changes(watched: Watched): Promise<LiveFigures> {
    const { read } = this.#deps;
    const budgets = newIn(watched, { budgets: await read.budgets(watched.principal) });
    if (budgets.budgets) watched.changedAt = watched.looks;
    const isDue = watched.looks - watched.changedAt < LOOKS_AFTER_CHANGE || watched.looks % LOOKS_BETWEEN === 0;
    watched.looks += 1;
    return isDue ? { ...budgets, ...newIn(watched, await read.settled(watched.principal)) } : budgets;
  }
}

const nameOf = ({ accountId, userId, accountRole }: Principal): string =>
  accountRole === 'developer' ? `${accountId} ${userId}` : accountId;

const tooMany = (why: string): Problem => new Problem('rate_limited', `${why}, or ask without \`stream\`.`, { retryAfterSeconds: 10 });

/** The parts that are others than those that were said last. */
function newIn({ said }: Watched, figures: LiveFigures): LiveFigures {
  const fresh = (Object.keys(figures) as (keyof LiveFigures)[]).filter((part) => {
    const text = JSON.stringify(figures[part]);
    if (said.get(part) === text) return false;
    said.set(part, text);
    return true;
  });
  return Object.fromEntries(fresh.map((part) => [part, figures[part]]));
}
