//! How the page looks: light and dark, on a phone and on paper. Colours come from the drawings' palette.

/// The page.
pub(super) const PAGE: &str = "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);\
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}main{max-width:1080px;margin:0 auto;\
padding:1.5rem 1.1rem 4rem}h1{font-size:1.75rem;line-height:1.2;margin:.4rem 0 .3rem}h2{font-size:1.25rem;margin:2.6rem 0 .7rem;\
padding-top:.9rem;border-top:1px solid var(--faint)}h3{font-size:1.02rem;margin:1.6rem 0 .5rem}p{margin:.5rem 0;max-width:46rem}\
.soft,figcaption{color:var(--soft)}p.soft{font-size:.92rem}table{border-collapse:collapse;font-size:.84rem;\
font-variant-numeric:tabular-nums;margin:.6rem 0}th,td{text-align:left;padding:.3rem 1rem .3rem 0;border-bottom:1px solid \
var(--faint);vertical-align:top}th{font-weight:600;color:var(--soft)}td.number,th.number{text-align:right}td.number{white-space:nowrap}\
th.number{max-width:8.5rem}td:not(.number){max-width:24rem}.wide{overflow-x:auto}.wide svg.drawing{max-width:none}\
.yes{color:var(--good);font-weight:600}.no{color:var(--bad);font-weight:600}.facts{display:flex;\
flex-wrap:wrap;gap:.7rem;margin:1.1rem 0}.fact{background:var(--card);border-radius:.6rem;padding:.6rem .95rem;min-width:8.5rem}\
.fact b{display:block;font-size:1.3rem;line-height:1.25}.fact span{color:var(--soft);font-size:.83rem}\
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(320px,100%),1fr));gap:1.2rem 1.3rem;margin:.8rem 0}figure{margin:0}\
figcaption{font-size:.86rem;margin:.35rem 0 1rem;max-width:46rem}details{margin:.9rem 0}summary{cursor:pointer;font-weight:600}\
pre{background:var(--code);padding:.85rem 1rem;border-radius:.6rem;overflow-x:auto;font-size:.83rem;line-height:1.45}\
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}nav{font-size:.92rem;margin-top:1.2rem}\
nav a{margin-right:1rem;display:inline-block}a{color:var(--k0)}.warning{border-left:4px solid var(--bad);padding:.4rem .9rem;\
background:var(--card);border-radius:.3rem}@media (max-width:600px){td:not(.number):not(:first-child){min-width:7.5rem}td:first-child:not(.number){min-width:4rem}}@media print{body{font-size:10pt}main{max-width:none;padding:0}h2,h3{break-after:avoid}\
figure,tr,.fact{break-inside:avoid}nav{display:none}.wide{overflow:visible}.wide svg.drawing{max-width:100%}pre{white-space:pre-wrap}\
.pictures{grid-template-columns:repeat(2,1fr)}details::details-content{content-visibility:visible;display:block}details>summary{list-style:none}}";
