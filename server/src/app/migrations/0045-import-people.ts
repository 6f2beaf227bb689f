/** A row of an import is a sighting, with tags beside it; in the history it is whoever imported. And people are found faster. */
export const importPeopleMigration = {
  name: '0045-import-people',
  up: `
-- The bits stand in the index itself: of one term they are beside each other there, and a row by row in the table.
alter table people_chunks drop constraint people_chunks_pkey;
create unique index people_chunks_bits on people_chunks (term, chunk) include (bits);
create index people_chunks_chunk on people_chunks (chunk);

create function import_person(sighting jsonb, by_kind text, by_id text) returns text language plpgsql as $$
  declare
    address text := sighting ->> 'email';
    new_tags text[] := array(select jsonb_array_elements_text(sighting -> 'tags'));
    was_there boolean;
    seen people%rowtype;
  begin
    select exists (select from people where email = address or (other_emails <> '{}' and other_emails @> array[address])) into was_there;
    perform sight_person(sighting);
    select * into seen from people where email = address or (other_emails <> '{}' and other_emails @> array[address]);
    if not found then return 'skipped'; end if;
    if not seen.tags @> new_tags then
      update people set tags = united(tags, new_tags) where person_id = seen.person_id;
      insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
        values (seen.person_id, 'import', by_kind, by_id, jsonb_build_object('tags', new_tags), (sighting ->> 'at')::timestamptz);
    end if;
    return case when was_there then 'updated' else 'created' end;
  end
$$;
`,
};
