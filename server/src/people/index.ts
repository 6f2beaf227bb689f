export { findPeople, walkPeople } from './find-people.ts';
export { foldForSearch, normalAddress } from './fold.ts';
export { indexPeople } from './index-people.ts';
export { historyOf, noteInHistory, personById } from './person-history.ts';
export { type PersonRow, personToWire } from './person-row.ts';
export { forgetUser, type PersonSighting, sightPerson } from './sight-person.ts';
export { suppressedAmong } from './suppressed-among.ts';
export { suppress, unsuppress } from './suppression.ts';
