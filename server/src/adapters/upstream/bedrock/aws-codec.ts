/** Loaded with the first stream. A module of ours, since a bundle gives a library of CommonJS that is imported late no names. */
export { EventStreamCodec } from '@smithy/eventstream-codec';
