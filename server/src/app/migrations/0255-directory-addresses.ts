/** By which a person of the directory signs in: the name of the user is often another. */
export const directoryAddressesMigration = {
  name: '0255-directory-addresses',
  up: `
alter table directory_users add column email text;
update directory_users set email = user_name where user_name like '%@%';
create index directory_users_by_email on directory_users (lower(email));
`,
};
