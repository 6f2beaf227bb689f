import type { VideoCharacter } from '@tallygate/contract';
import type { Pool } from 'pg';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, asJson, rowsOf, run } from '../../kernel/statements.ts';
import type { Owner } from '../files/index.ts';
import type { ContentKeys } from '../stored-content/index.ts';
import { tables } from './tables.ts';

/** A row of `video_characters`. */
export interface CharacterRow {
  readonly id: string;
  readonly deployment: string;
  /** The provider's own id. */
  readonly upstream_id: string;
  readonly name: string;
  readonly created_at: Date;
}

/** Its name is sealed for here. */
const namePlaceOf = (id: string): string => `name of character ${id}`;

export const newCharacterId = (): string => `char_${newId().replaceAll('-', '')}`;

const isCharacterId = (text: string): boolean => /^char_[0-9a-f]{32}$/.test(text);

export const characterToWire = ({ id, name, created_at }: Pick<CharacterRow, 'id' | 'name' | 'created_at'>): VideoCharacter => ({
  id,
  created_at: Math.floor(created_at.getTime() / 1000),
  name,
});

/** The characters of all accounts: who they are stays at their providers. */
export class StoredCharacters {
  readonly #pool: Pool;
  readonly #content: ContentKeys;

  constructor(pool: Pool, content: ContentKeys) {
    this.#pool = pool;
    this.#content = content;
  }

  async insert(owner: Owner, { id, deployment, upstream_id, name, created_at }: CharacterRow): Promise<void> {
    const sealed = await this.#content.seal(owner.accountId, namePlaceOf(id), name);
    await run(
      this.#pool,
      tables.insertInto('video_characters').values({
        ...{ id, account_id: owner.accountId, livemode: owner.livemode, deployment, upstream_id, name: asJson(sealed), created_at },
      }),
    );
  }

  /** @throws Problem `not_found`, for a missing one and somebody else's alike */
  async get(owner: Owner, id: string): Promise<CharacterRow> {
    const [row] = await this.all(owner, [id], 'character_id');
    if (!row) throw noSuchCharacter('character_id');
    return row;
  }

  /** All of them, in their order. @throws Problem `not_found` where one is missing, which `param` has named */
  async all(owner: Owner, ids: readonly string[], param: string): Promise<CharacterRow[]> {
    const rows = await rowsOf(
      this.#pool,
      tables
        .selectFrom('video_characters')
        .selectAll()
        .where('id', '=', anyOf(ids.filter(isCharacterId)))
        .where('account_id', '=', owner.accountId)
        .where('livemode', '=', owner.livemode),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return Promise.all(
      ids.map(async (id) => {
        const row = byId.get(id);
        if (!row) throw noSuchCharacter(param);
        return { ...row, name: await this.#content.open(owner.accountId, namePlaceOf(id), row.name) };
      }),
    );
  }
}

const noSuchCharacter = (param: string): Problem => new Problem('not_found', 'There is no such character.', { param });
