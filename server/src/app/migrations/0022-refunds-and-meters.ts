/** What every modality counts, what batches and jobs are, and money that is given back. */
export const refundsAndMetersMigration = {
  name: '0022-refunds-and-meters',
  up: `
alter table usage_records
  add column kind text not null default 'usage' check (kind in ('usage', 'batch_line', 'media_job')),
  add column price_factor text not null default '1',
  add column funding text check (funding in ('test', 'balance', 'invoice', 'none')),
  -- The counts that only some requests have, by name; absent when zero.
  add column meters jsonb not null default '{}';
-- Who paid was known to the books alone. Where nothing was charged it makes no difference.
update usage_records u set funding = case
  when not livemode then 'test'
  when exists (select 1 from postings p join ledger_entries e using (posting_id)
                where p.request_id = u.request_id and p.attempt = u.attempt and e.account like 'receivable:%') then 'invoice'
  else 'balance' end;
alter table usage_records alter column funding set not null;

alter table usage_daily
  add column input_characters bigint not null default 0,
  add column audio_seconds bigint not null default 0,
  add column video_seconds bigint not null default 0,
  add column images bigint not null default 0,
  add column covered_images bigint not null default 0,
  add column covered_audio_seconds bigint not null default 0,
  add column covered_video_seconds bigint not null default 0;

-- Which kinds there are is for the writers to say; what holds is that one cause is booked once.
alter table postings drop constraint postings_kind_check;
alter table postings add constraint postings_kind_check check (kind ~ '^[a-z_]+$');

-- Written before the lanes give anything back, so that a refund that was begun is ended after a crash, and is made once.
create table refunds (
  refund_id uuid primary key,
  receipt_id uuid not null unique,
  request_id text not null,
  attempt smallint not null,
  account_id uuid not null,
  reason text not null,
  requested_at timestamptz not null,
  -- Set with the posting.
  posted_at timestamptz,
  unique (request_id, attempt)
);
create index refunds_unposted on refunds (requested_at) where posted_at is null;
`,
};
