import type { VideoCharacter } from '@tallygate/contract';
import type { Pool } from 'pg';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Owner } from '../files/index.ts';
import type { ContentKeys } from '../stored-content/index.ts';

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
    await this.#pool.query(
      `insert into video_characters (id, account_id, livemode, deployment, upstream_id, name, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [id, owner.accountId, owner.livemode, deployment, upstream_id, JSON.stringify(sealed), created_at],
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
    const { rows } = await this.#pool.query<CharacterRow>(
      'select * from video_characters where id = any($1) and account_id = $2 and livemode = $3',
      [ids.filter(isCharacterId), owner.accountId, owner.livemode],
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
