import { join } from 'node:path';
import { ProtocolFields } from '../../../src/cli/wire/protocol-fields.ts';
import { ROOT } from '../../docs/pages.ts';

export const SCHEMA = join(ROOT, 'schema');

/** The fields of the protocol's schema. */
export const FIELDS = new ProtocolFields(SCHEMA);
