export { foldForSearch } from './fold.ts';
export { forgetUser, type PersonSighting, sightPerson } from './sight-person.ts';
