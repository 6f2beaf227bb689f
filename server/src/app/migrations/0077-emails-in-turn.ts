/** Of each mail that is being sent, the recipients whose turn is next are at hand. */
export const emailsInTurnMigration = {
  name: '0077-emails-in-turn',
  up: `
drop index email_recipients_due;
create index email_recipients_due on email_recipients (email_id, due_at, recipient_id) where state = 'queued';
-- Those that were added after their mail was canceled.
update email_recipients r set state = 'canceled' from emails e where e.email_id = r.email_id and e.state = 'canceled' and r.state = 'queued';
`,
};
