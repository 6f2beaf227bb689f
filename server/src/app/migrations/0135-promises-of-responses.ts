/** What was promised of the receipt of a response in the background: it is given with the response. */
export const promisesOfResponsesMigration = {
  name: '0135-promises-of-responses',
  up: 'alter table stored_responses add column receipt_promise text;',
};
