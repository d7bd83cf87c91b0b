// Makes the pictures of README.md, from a run of a part of the demo: `npm run pictures`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readmePictures } from './demo/readme-pictures.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures');

mkdirSync(FOLDER, { recursive: true });
for (const [name, picture] of Object.entries(await readmePictures()))
  writeFileSync(join(FOLDER, name), picture);
