/** Loaded when the first request is signed. A module of ours, since a bundle gives a library of CommonJS that is imported late no names. */
export { defaultProvider } from '@aws-sdk/credential-provider-node';
export { SignatureV4 } from '@smithy/signature-v4';
