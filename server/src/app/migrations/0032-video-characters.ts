/** Characters that can appear in videos, and where they live. */
export const videoCharactersMigration = {
  name: '0032-video-characters',
  up: `
    create table video_characters (
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      -- Where it lives: videos with it are made there.
      deployment text not null,
      -- The provider's own id of it.
      upstream_id text not null,
      -- JSON, since a text of PostgreSQL holds no U+0000.
      name json not null,
      created_at timestamptz not null
    );
    create index video_characters_account_idx on video_characters (account_id);
  `,
};
