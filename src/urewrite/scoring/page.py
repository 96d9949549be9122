"""The frame of the HTML report: style and script are part of the page, so that one file is all there is to keep."""

from __future__ import annotations

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --text: #1d2430; --faint: #626c7a; --line: #dde1e7; --accent: #2557c7;
  --added: #d5f2dc; --added-text: #0f5a29; --gone: #fbdfe1; --gone-text: #98202c;
  --exact: #1d7a3e; --insert: #a85b00; --substitute: #7a3fb5; --order: #0b6f86; --over: #b3263a; --unreachable: #5d6673;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --card: #1d2128; --text: #e4e8ee; --faint: #98a2b1; --line: #323945; --accent: #8ab0ff;
    --added: #17402a; --added-text: #9be8b4; --gone: #4a2027; --gone-text: #ffb0b7;
    --exact: #6fd394; --insert: #f0b066; --substitute: #c9a0f5; --order: #6fd0e5; --over: #ff95a3;
    --unreachable: #a9b3c1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 66rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif;
}
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
.count { color: var(--faint); margin: .15rem 0 1.25rem; }
.tables { display: flex; flex-wrap: wrap; gap: 1rem; overflow-x: auto; }
table {
  flex: auto; border-collapse: collapse; background: var(--card); border: 1px solid var(--line);
  font-variant-numeric: tabular-nums; font-size: .92rem;
}
caption { text-align: left; padding-bottom: .3rem; font-weight: 600; }
th, td { padding: .28rem .9rem; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; font-weight: 500; }
thead th { color: var(--faint); font-weight: 500; border-bottom: 1px solid var(--line); padding-block: .5rem; }
tbody tr:nth-child(even) { background: color-mix(in srgb, var(--line) 28%, transparent); }
nav {
  position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .4rem; padding: .8rem 0;
  margin-top: 1.25rem; background: var(--page);
}
button {
  font: inherit; font-size: .88rem; color: var(--text); background: var(--card); border: 1px solid var(--line);
  border-radius: 2rem; padding: .2rem .8rem; cursor: pointer;
}
button b { font-weight: 500; color: var(--faint); }
button[aria-pressed=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .75rem 1rem;
  margin-bottom: .7rem; content-visibility: auto; contain-intrinsic-size: auto 9.5rem;
}
article[hidden] { display: none; }
article header { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem .6rem; font-size: .82rem; }
.number, .note { color: var(--faint); }
.note { overflow-wrap: anywhere; }
.tag { border: 1px solid; border-radius: 2rem; padding: 0 .55rem; }
.exact { color: var(--exact); } .insert { color: var(--insert); } .substitute { color: var(--substitute); }
.order { color: var(--order); } .over-rewriting { color: var(--over); } .not-reachable { color: var(--unreachable); }
dl { display: grid; grid-template-columns: 6.2rem 1fr; gap: .1rem .6rem; margin: .45rem 0 0; }
dt { color: var(--faint); font-size: .88rem; padding-top: .08rem; }
dd { margin: 0; overflow-wrap: anywhere; }
ins, del { border-radius: .2rem; padding: 0 .15rem; }
ins { background: var(--added); color: var(--added-text); text-decoration: none; }
del { background: var(--gone); color: var(--gone-text); }
del + ins { margin-left: .2rem; }
details { margin-top: .35rem; font-size: .9rem; color: var(--faint); }
summary { cursor: pointer; }
ol { margin: .3rem 0 0; padding-left: 1.6rem; overflow-wrap: anywhere; }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .3rem; } }
</style>
</head>
<body>
<h1>{title}</h1>
<p class="count">{n} examples. Green words are added to the utterance, struck words are taken out of it.</p>
<div class="tables">{tables}</div>
<nav aria-label="Show examples by fault">{filters}</nav>
<main>
{examples}</main>
<script>
const buttons = document.querySelectorAll("button[data-show]");
const articles = document.querySelectorAll("article");
for (const button of buttons) button.addEventListener("click", () => {
  const wanted = button.dataset.show;
  for (const other of buttons) other.setAttribute("aria-pressed", other === button);
  for (const article of articles)
    article.hidden = wanted !== "all" && !article.dataset.faults.split(" ").includes(wanted);
});
</script>
</body>
</html>
"""
