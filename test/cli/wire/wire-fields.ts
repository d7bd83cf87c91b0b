import { join } from 'node:path';
import { ProtocolFields } from '../../../src/cli/wire/protocol-fields.ts';
import { ROOT } from '../../docs/pages.ts';

/** The fields of the protocol's schema. */
export const FIELDS = new ProtocolFields(join(ROOT, 'schema'));
