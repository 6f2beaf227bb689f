import { GROUP_SCHEMA, USER_SCHEMA } from './scim-schemas.ts';

/** What is served of RFC 7644 (RFC 7643, 5). */
export const SERVICE_PROVIDER_CONFIG = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 200 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Management key',
      description: 'A management key with the scope scim, as a bearer token.',
      primary: true,
    },
  ],
};

const typeOf = (name: string, schema: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  ...{ id: name, name, endpoint: `/${name}s`, schema },
});
export const RESOURCE_TYPES = [typeOf('User', USER_SCHEMA), typeOf('Group', GROUP_SCHEMA)];

const attribute = (name: string, more: object = {}) => ({
  ...{ name, type: 'string', multiValued: false, required: false, caseExact: false, mutability: 'readWrite', returned: 'default' },
  ...{ uniqueness: 'none', ...more },
});
const value = attribute('value');

export const SCHEMAS = [
  {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id: USER_SCHEMA, name: 'User', description: 'A person of the directory.' },
    attributes: [
      attribute('userName', { required: true, uniqueness: 'server' }),
      attribute('externalId', { caseExact: true }),
      attribute('displayName'),
      attribute('name', {
        type: 'complex',
        subAttributes: [attribute('formatted'), attribute('givenName'), attribute('familyName')],
      }),
      attribute('emails', { type: 'complex', multiValued: true, subAttributes: [value, attribute('primary', { type: 'boolean' })] }),
      attribute('active', { type: 'boolean' }),
    ],
  },
  {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id: GROUP_SCHEMA, name: 'Group', description: 'A group of the directory.' },
    attributes: [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      attribute('externalId', { caseExact: true }),
      attribute('members', { type: 'complex', multiValued: true, subAttributes: [value] }),
    ],
  },
];
