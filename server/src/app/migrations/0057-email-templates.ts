/** The words of mails that are sent again and again. A mail keeps its own copy of them. */
export const emailTemplatesMigration = {
  name: '0057-email-templates',
  up: `
create table email_templates (
  template_id uuid primary key,
  name text not null,
  subject text not null,
  text_body text not null,
  html_body text,
  variables jsonb not null,
  version int not null default 1,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index email_templates_name on email_templates (lower(name)) where archived_at is null;
create index email_templates_newest on email_templates (updated_at desc, template_id);

alter table emails add column template_id uuid references email_templates;
`,
};
