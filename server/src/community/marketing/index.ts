export { type Consents, createConsents } from './consents.ts';
export { exportPeople } from './export-people.ts';
export { importPeople } from './import-people.ts';
export { peopleRoutes } from './routes.ts';
