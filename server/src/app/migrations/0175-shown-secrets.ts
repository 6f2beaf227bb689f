/** Who was shown the secrets of an API key that work: a member who leaves knows them. */
export const shownSecretsMigration = {
  name: '0175-shown-secrets',
  up: 'alter table api_keys add column secret_shown_to uuid[]',
};
