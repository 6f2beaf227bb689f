/** Of a mail that was refused for good: whether it was its recipient that the mail server refused, so that the address counts as bounced. */
export const refusedRecipientsMigration = {
  name: '0080-refused-recipients',
  up: 'alter table mails add column is_recipient_refused boolean not null default false',
};
