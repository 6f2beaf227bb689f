/**
 * Models and what they cost. A price is never edited, never removed and never dated back, whoever writes the database. Every change raises the
 * revision and is told to the gateways, which have the catalogue in memory.
 */
export const catalogMigration = {
  name: '0089-catalog',
  up: `
create table catalog_models (
  id text not null,
  source text not null check (source in ('shipped', 'file', 'admin', 'discovery')),
  definition jsonb not null,
  -- The prices that a list states with it.
  stated jsonb not null default '[]',
  primary key (id, source)
);
create table catalog_prices (
  model_id text not null,
  version text not null,
  source text not null check (source in ('shipped', 'file', 'admin')),
  -- Where the figures are from.
  cited text,
  -- USD per million units by meter, tiers, factor in batches.
  terms jsonb not null,
  effective_from timestamptz not null,
  given_at timestamptz not null default now(),
  primary key (model_id, version),
  unique (model_id, effective_from)
);
-- What the lists were when they were read last.
create table catalog_lists (
  source text primary key check (source in ('shipped', 'file')),
  digest text not null,
  edition text not null
);
-- What providers said that they serve.
create table catalog_discoveries (
  provider text not null,
  base_url text not null,
  names text[] not null,
  found_at timestamptz not null,
  primary key (provider, base_url)
);
create table catalog_revision (revision bigint not null);
insert into catalog_revision values (1);

create function refuse_dated_back_price() returns trigger language plpgsql as $$
begin
  new.given_at := date_trunc('milliseconds', transaction_timestamp());
  if new.effective_from < new.given_at then
    raise exception 'A price is not dated back: % of % would be charged from %', new.version, new.model_id, new.effective_from;
  end if;
  return new;
end $$;
create trigger catalog_prices_not_dated_back before insert on catalog_prices
  for each row execute function refuse_dated_back_price();

create function refuse_edited_price() returns trigger language plpgsql as $$
begin
  raise exception 'A price that was published is neither changed nor removed: set a new one';
end $$;
create trigger catalog_prices_stay before update or delete on catalog_prices
  for each row execute function refuse_edited_price();
create trigger catalog_prices_are_not_emptied before truncate on catalog_prices
  for each statement execute function refuse_edited_price();

create function tell_catalog_changed() returns trigger language plpgsql as $$
begin
  update catalog_revision set revision = revision + 1;
  perform pg_notify('tallygate_catalog', '');
  return null;
end $$;
create trigger catalog_models_told after insert or update or delete on catalog_models
  for each statement execute function tell_catalog_changed();
create trigger catalog_prices_told after insert on catalog_prices
  for each statement execute function tell_catalog_changed();
create trigger catalog_discoveries_told after insert or update or delete on catalog_discoveries
  for each statement execute function tell_catalog_changed();
`,
};
