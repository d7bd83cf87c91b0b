/** So that nothing waits for a person to turn a page, colours its output, or speaks another character set. */
export const UNATTENDED = {
  TERM: 'dumb',
  NO_COLOR: '1',
  COLORTERM: '',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  LC_CTYPE: 'C.UTF-8',
};
