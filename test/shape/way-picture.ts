import { posix } from 'node:path';

/** How far the boxes of one room are to the right of those of the room before. */
const ROOM_STEP = 62;
const STOP_STEP = 68;
const TOP = 56;
const BOX = { width: 290, height: 44 };
/** Where lines leave and enter a box. */
const LINE_X = 24;
/** The longest texts that fit into a box, in characters. */
const HEAD_CHARS_MAX = 36;
const PATH_CHARS_MAX = 45;

/** A file of a way. */
export interface Stop {
  /** From the root. */
  path: string;
  /** The number that the page gives it. */
  number: number;
  /** What it does. Null: its name stands for that. */
  caption: string | null;
}

/** A way through the code. */
export interface Way {
  title: string;
  /** In the order of the way. */
  stops: readonly Stop[];
  /** Whether one of two files imports the other. */
  areTied(one: string, other: string): boolean;
}

/**
 * Draws a way as SVG: a box for each stop. The boxes of one room are below each other. The rooms
 * are in the order in which the way first enters them. Throws if a text is too long for its box.
 */
export function wayPicture({ title, stops, areTied }: Way): string {
  const rooms = [...new Set(stops.map(({ path }) => roomOf(path)))];
  const width = (rooms.length - 1) * ROOM_STEP + BOX.width + 20;
  const height = TOP + stops.length * STOP_STEP - (STOP_STEP - BOX.height) + 10;
  const at = stops.map(({ path }, index) => ({
    x: 10 + rooms.indexOf(roomOf(path)) * ROOM_STEP,
    y: TOP + index * STOP_STEP,
  }));
  const lines = at.slice(1).map((to, index) => {
    const isTied = areTied(stops[index]?.path ?? '', stops[index + 1]?.path ?? '');
    return arrow(at[index] ?? to, to, isTied);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="title" x="10" y="24">${title}</text>`,
    `<text class="path" x="10" y="42">${LEGEND}</text>`,
    ...lines,
    ...stops.map((stop, index) => box(stop, at[index] ?? { x: 0, y: 0 })),
    '</svg>\n',
  ].join('\n');
}

const LEGEND = 'Solid: one of the two files imports the other. Dashed: neither does.';

const STYLE = [
  'text{font:12px ui-monospace,monospace;fill:#1f2328}.title{font:bold 14px sans-serif}',
  '.name{font-weight:bold}.path{font-size:10px}.page{fill:#fff}.stop{fill:#ddf4ff;stroke:#0969da}',
  '.tied,.loose{fill:none;stroke:#59636e}.loose{stroke-dasharray:4 3}.head{fill:#59636e}',
  '@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.page{fill:#0d1117}',
  '.stop{fill:#121d2f;stroke:#4493f8}.tied,.loose{stroke:#9198a1}.head{fill:#9198a1}}',
].join('');

interface Point {
  x: number;
  y: number;
}

function box({ path, number, caption }: Stop, { x, y }: Point): string {
  const head = `${number}. ${caption ?? posix.basename(path)}`;
  const place = path.slice('src/'.length);
  if (head.length > HEAD_CHARS_MAX || place.length > PATH_CHARS_MAX)
    throw new Error(`too long for a box: ${head}, ${place}`);
  return [
    `<rect class="stop" x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="4"/>`,
    `<text class="name" x="${x + 8}" y="${y + 18}">${head}</text>`,
    `<text class="path" x="${x + 8}" y="${y + 35}">${place}</text>`,
  ].join('\n');
}

/** The line from the lower side of a box to the next box. */
function arrow(from: Point, to: Point, isTied: boolean): string {
  const [x1, x2] = [from.x + LINE_X, to.x + LINE_X];
  const y1 = from.y + BOX.height;
  const middle = (y1 + to.y) / 2;
  return `<path class="${isTied ? 'tied' : 'loose'}" d="M${x1} ${y1} V${middle} H${x2} V${to.y}" marker-end="url(#end)"/>`;
}

/** The room of a file: of the agent, the folder below it. */
function roomOf(path: string): string {
  const [, room = '', below = '', rest] = path.split('/');
  return room === 'agent' && rest !== undefined ? `agent/${below}` : room;
}
