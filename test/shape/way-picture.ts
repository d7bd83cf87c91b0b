import { posix } from 'node:path';

const LANE_WIDTH = 222;
const STOP_HEIGHT = 56;
const TOP = 64;
const BOX = { width: 202, height: 30 };

/** A way through the code. */
export interface Way {
  title: string;
  /** In the order of the way. Paths from the root, with the numbers that the page gives them. */
  stops: readonly { path: string; number: number }[];
  /** The files over which one of two files imports the other. Null: it does not, or over many. */
  between(one: string, other: string): readonly string[] | null;
}

/**
 * Draws a way as SVG: a column for each room, in the order in which the way first enters it, and a
 * box for each stop. A solid line: one of the two files imports the other, or the file at the line
 * stands between them. A dashed line: they know each other only from afar.
 */
export function wayPicture({ title, stops, between }: Way): string {
  const rooms = [...new Set(stops.map(({ path }) => roomOf(path)))];
  const width = rooms.length * LANE_WIDTH + 20;
  const height = TOP + stops.length * STOP_HEIGHT + 10;
  const at = stops.map(({ path }, index) => ({
    x: 20 + rooms.indexOf(roomOf(path)) * LANE_WIDTH,
    y: TOP + index * STOP_HEIGHT,
  }));
  const lanes = rooms.map((room, index) =>
    [
      `<text class="room" x="${20 + index * LANE_WIDTH}" y="50">${room}</text>`,
      `<line class="lane" x1="${10 + index * LANE_WIDTH}" y1="36" x2="${10 + index * LANE_WIDTH}" y2="${height - 6}"/>`,
    ].join('\n'),
  );
  const lines = at.slice(1).map((to, index) => {
    const from = at[index] ?? to;
    const over = between(stops[index]?.path ?? '', stops[index + 1]?.path ?? '');
    return arrow({ from, to, over });
  });
  const boxes = stops.map(({ path, number }, index) => {
    const { x, y } = at[index] ?? { x: 0, y: 0 };
    return [
      `<rect class="stop" x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="4"/>`,
      `<text class="name" x="${x + 8}" y="${y + 19}">${number}. ${posix.basename(path)}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="title" x="10" y="24">${title}</text>`,
    ...lanes,
    ...lines,
    ...boxes,
    '</svg>\n',
  ].join('\n');
}

const STYLE = [
  'text{font:12px ui-monospace,monospace;fill:#1f2328}.title{font:bold 14px sans-serif}',
  '.room{font-weight:bold}.over{font-size:10px}.page{fill:#fff}.lane{stroke:#d1d9e0}.stop{fill:#ddf4ff;stroke:#0969da}',
  '.tied,.loose{fill:none;stroke:#59636e}.loose{stroke-dasharray:4 3}.head{fill:#59636e}',
  '@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.page{fill:#0d1117}.lane{stroke:#3d444d}',
  '.stop{fill:#121d2f;stroke:#4493f8}.tied,.loose{stroke:#9198a1}.head{fill:#9198a1}}',
].join('');

interface Point {
  x: number;
  y: number;
}

/** The line from a box down to the next one, with the file that stands between them. */
function arrow({ from, to, over }: { from: Point; to: Point; over: readonly string[] | null }) {
  const x1 = from.x + BOX.width / 2;
  const x2 = to.x + BOX.width / 2;
  const y1 = from.y + BOX.height;
  const middle = (y1 + to.y) / 2;
  const kind = over === null ? 'loose' : 'tied';
  const [file] = over ?? [];
  const name =
    file === undefined
      ? ''
      : `<text class="over" x="${Math.max(x1, x2) + 6}" y="${middle + 4}">${posix.basename(file)}</text>`;
  return `<path class="${kind}" d="M${x1} ${y1} V${middle} H${x2} V${to.y}" marker-end="url(#end)"/>${name}`;
}

/** The room of a file: of the agent, the folder below it. */
function roomOf(path: string): string {
  const [, room = '', below = '', rest] = path.split('/');
  return room === 'agent' && rest !== undefined ? `agent/${below}` : room;
}
