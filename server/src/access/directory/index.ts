export { DirectoryGroups } from './directory-groups.ts';
export { DirectoryUsers } from './directory-users.ts';
export { deleteAccountDirectory, releaseDirectoryUser } from './forget.ts';
export { directoryRecords } from './person-records.ts';
export { directoryRoutes } from './routes.ts';
export { RESOURCE_TYPES, SCHEMAS, SERVICE_PROVIDER_CONFIG } from './scim-description.ts';
export { ScimError } from './scim-error.ts';
export { patched } from './scim-patch.ts';
export { ScimGroup, ScimPatch, ScimQuery, ScimUser } from './scim-schemas.ts';
