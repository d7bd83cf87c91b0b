/**
 * Environment variables that keep programs from starting a pager, colouring their output or using
 * another character set.
 */
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
