/** What is meant for an address does not reach an account that somebody made with it and never proved that they read it. */
export const proofOfAddressesMigration = {
  name: '0067-proof-of-addresses',
  up: `
-- When the reader of the address was asked to make the account theirs.
alter table users add column claim_asked_at timestamptz;

-- Whether something that was noted at that time waits for the reader of an address, who was mailed a link that was still good then.
-- A password of '!' is none: such an account is opened by a mail alone.
create function awaits_proof(address text, noted_at timestamptz) returns boolean language sql stable as $$
  select exists (select from users where lower(email) = lower(address) and closed_at is null and email_verified_at is null
    and password_hash <> '!' and claim_asked_at > noted_at - interval '6 days')
$$;
`,
};
