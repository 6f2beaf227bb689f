export { foldForSearch } from './fold.ts';
export { forgetUser, type PersonSighting, type PersonSource, sightPerson } from './sight-person.ts';
