import type { Pool } from 'pg';
import type { Log } from '../../kernel/log.ts';
import { type Catalog, catalogOf } from './catalog.ts';
import { type CatalogState, type Found, readCatalog, revisionOf } from './store.ts';

/** While changes are not heard of, the database is asked whether there are any. With the time it takes to notice that, within a price's lead. */
const POLL_MS = 250;

interface LiveCatalogDeps {
  readonly pool: Pool;
  readonly log: Log;
  readonly providers: ReadonlySet<string>;
}

type Changed = (catalog: Catalog, found: readonly Found[]) => void;

/**
 * The catalogue in memory, as the database has it: read when a change is heard of. While the listening connection is down its revision is asked for
 * four times a second. What a reader has taken from it stays as it is.
 */
export class LiveCatalog implements Catalog {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #onChanged: Changed[] = [];
  #state: CatalogState;
  #now: Catalog;
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #polling: NodeJS.Timeout | undefined;

  /** Those that are configured, by name. */
  readonly providers: ReadonlySet<string>;

  private constructor({ pool, log, providers }: LiveCatalogDeps, state: CatalogState) {
    this.providers = providers;
    this.#pool = pool;
    this.#log = log;
    this.#state = state;
    this.#now = this.#catalogOf(state);
  }

  /** Deaf at first: it polls until `listening()`. */
  static async open(deps: LiveCatalogDeps): Promise<LiveCatalog> {
    const catalog = new LiveCatalog(deps, await readCatalog(deps.pool));
    catalog.disconnected();
    return catalog;
  }

  find: Catalog['find'] = (name) => this.#now.find(name);
  resolve: Catalog['resolve'] = (name) => this.#now.resolve(name);
  known: Catalog['known'] = (name) => this.#now.known(name);
  pricedAt: Catalog['pricedAt'] = (id, epochMs) => this.#now.pricedAt(id, epochMs);

  get models(): Catalog['models'] {
    return this.#now.models;
  }

  get all(): Catalog['all'] {
    return this.#now.all;
  }

  get published(): Catalog['published'] {
    return this.#now.published;
  }

  /** What providers said that they serve, when they were asked last. */
  get found(): readonly Found[] {
    return this.#state.found;
  }

  /** Changes with every change of what is in it. */
  get revision(): bigint {
    return this.#state.revision;
  }

  /** Calls it now and after every change, in the same turn in which the change is to be seen. */
  follow(onChanged: Changed): void {
    this.#onChanged.push(onChanged);
    onChanged(this.#now, this.#state.found);
  }

  /** Resolves once everything is to be seen that was written before the call. One read at a time; who asks meanwhile waits for the next. */
  refresh(): Promise<void> {
    this.#next ??= this.#readAfter(this.#reading);
    return this.#next;
  }

  /** Heard on the channel. */
  changed(): void {
    this.refresh().catch((error: unknown) => {
      this.#log.error({ err: error }, 'the catalogue could not be read again; it is asked for until it can be');
      this.disconnected();
    });
  }

  /** Changes are heard from now on; what was missed is read. */
  listening(): void {
    clearInterval(this.#polling);
    this.#polling = undefined;
    this.changed();
  }

  /** Changes may go by unheard from now on. */
  disconnected(): void {
    this.#polling ??= setInterval(() => void this.#poll(), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#polling);
  }

  async #readAfter(running: Promise<void> | undefined): Promise<void> {
    await running?.catch(() => {});
    this.#next = undefined;
    this.#reading = this.#read();
    await this.#reading;
  }

  async #read(): Promise<void> {
    // Most are asked for when nothing has changed, as at each start: to read it all takes a hundred times as long as its revision.
    if ((await revisionOf(this.#pool)) === this.#state.revision) return;
    const state = await readCatalog(this.#pool);
    if (state.revision < this.#state.revision) return;
    this.#state = state;
    this.#now = this.#catalogOf(state);
    for (const onChanged of this.#onChanged) onChanged(this.#now, state.found);
  }

  #catalogOf({ records, former }: CatalogState): Catalog {
    return catalogOf(records, { former, providers: this.providers });
  }

  async #poll(): Promise<void> {
    try {
      if ((await revisionOf(this.#pool)) !== this.#state.revision) await this.refresh();
    } catch (error) {
      this.#log.warn({ err: error }, 'the catalogue’s revision could not be read');
    }
  }
}
