/** Posts, pages and other texts, which are drafts until they are published. */
export const contentMigration = {
  name: '0047-content',
  up: `
create table content (
  content_id uuid primary key,
  type text not null,
  slug text not null unique,
  title text not null,
  summary text,
  body text not null,
  tags text[] not null,
  status text not null check (status in ('draft', 'published')),
  version int not null,
  created_by uuid,
  updated_by uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  first_published_at timestamptz,
  published_at timestamptz,
  check ((status = 'published') = (published_at is not null))
);
create index content_changed on content (updated_at desc, content_id);
create index content_published on content (first_published_at desc, content_id) where status = 'published';
`,
};
