/** Mails that wait to be sent, and the log of who changed what, which can only grow. */
export const mailAndAuditMigration = {
  name: '0008-mail-and-audit',
  up: `
    create table mails (
      id uuid primary key,
      account_id uuid references accounts (id),
      recipient text not null,
      template text not null,
      data jsonb not null,
      dedupe_key text unique,
      created_at timestamptz not null default now(),
      due_at timestamptz not null default now(),
      sent_at timestamptz,
      failed_at timestamptz,
      attempts integer not null default 0,
      last_error text
    );
    create index mails_due_at_idx on mails (due_at) where sent_at is null and failed_at is null;

    create table audit_log (
      id uuid primary key,
      account_id uuid references accounts (id),
      actor_kind text not null check (actor_kind in ('user', 'key', 'internal', 'system')),
      actor_id text,
      action text not null,
      target_kind text not null,
      target_id text not null,
      changes jsonb not null,
      ip text,
      user_agent text,
      request_id text,
      created_at timestamptz not null default now()
    );
    create index audit_log_account_id_idx on audit_log (account_id, id desc);

    create function refuse_change_of_audit_log() returns trigger language plpgsql as $$
      begin
        raise exception 'audit_log only grows: % is refused', tg_op;
      end
    $$;
    create trigger audit_log_only_grows before update or delete on audit_log
      for each row execute function refuse_change_of_audit_log();
    create trigger audit_log_is_never_emptied before truncate on audit_log
      for each statement execute function refuse_change_of_audit_log();
  `,
};
