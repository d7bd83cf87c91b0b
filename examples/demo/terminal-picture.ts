/**
 * A picture of the text on a terminal, as SVG: text stays text, and no font or style is fetched.
 */
export interface PictureOptions {
  title: string;
  /** Lines with SGR sequences of one number, as Screen writes them. */
  text: string;
  /** The width of the terminal. */
  columns: number;
  colors: PictureColors;
}

export interface PictureColors {
  background: string;
  border: string;
  text: string;
  dim: string;
  cyan: string;
  green: string;
  red: string;
}

export const DARK: PictureColors = {
  background: '#0d1117',
  border: '#30363d',
  text: '#e6edf3',
  dim: '#8b949e',
  cyan: '#56d4dd',
  green: '#3fb950',
  red: '#ff7b72',
};
export const LIGHT: PictureColors = {
  background: '#ffffff',
  border: '#d0d7de',
  text: '#1f2328',
  dim: '#656d76',
  cyan: '#1b7c83',
  green: '#1a7f37',
  red: '#cf222e',
};

const FONTS =
  "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";
const FONT_SIZE = 13;
/** The advance of a character, which each text is set to: fonts differ a little. */
const CHARACTER_WIDTH = 7.8;
const LINE_HEIGHT = 18;
const PADDING = 16;

/** Returns the same text for the same options. */
export function terminalPicture({ title, text, columns, colors }: PictureOptions): string {
  const lines = text.split('\n');
  const width = Math.ceil(columns * CHARACTER_WIDTH + 2 * PADDING);
  const height = lines.length * LINE_HEIGHT + 2 * PADDING;
  const { background, border } = colors;
  const texts = lines.flatMap((line, row) =>
    lineTexts(line, PADDING + row * LINE_HEIGHT + FONT_SIZE, colors),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${background}" stroke="${border}"/>
<g font-family="${FONTS}" font-size="${FONT_SIZE}" fill="${colors.text}" xml:space="preserve">
${texts.join('\n')}
</g>
</svg>
`;
}

function lineTexts(line: string, y: number, colors: PictureColors): string[] {
  const [first = '', ...styled] = line.split('\x1b[');
  const parts = [
    { style: '', text: first },
    ...styled.map((part) => ({
      style: part.split('m', 1)[0] ?? '',
      text: part.slice(part.indexOf('m') + 1),
    })),
  ];
  const fills: Record<string, string> = {
    2: colors.dim,
    31: colors.red,
    32: colors.green,
    36: colors.cyan,
  };
  let column = 0;
  return parts.flatMap(({ style, text }) => {
    const shown = text.trim();
    const x = PADDING + (column + text.length - text.trimStart().length) * CHARACTER_WIDTH;
    column += text.length;
    if (shown === '') return [];
    const length = (shown.length * CHARACTER_WIDTH).toFixed(1);
    const fill = fills[style];
    const attribute =
      style === '1' ? ' font-weight="bold"' : fill === undefined ? '' : ` fill="${fill}"`;
    return [
      `<text x="${x.toFixed(1)}" y="${y}" textLength="${length}"${attribute}>${escaped(shown)}</text>`,
    ];
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
