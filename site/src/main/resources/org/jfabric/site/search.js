// The field that searches the sections of all pages. The index is loaded when the field is used, so that it costs no page
// anything; it is a script and no data file, because browsers read none from a folder.
(() => {
  const up = document.currentScript.dataset.up;
  const field = document.createElement('input');
  const list = document.createElement('ul');
  field.type = 'search';
  field.placeholder = 'Search ( / )';
  field.setAttribute('aria-label', 'Search the pages');
  list.className = 'results';
  let loading;

  function load() {
    loading ??= new Promise((done, failed) => {
      const script = document.createElement('script');
      script.src = up + 'index.js';
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });
    return loading;
  }

  // Every word has to begin a word of the section; those of titles count more.
  function score(section, words) {
    const [, title, heading, text] = section;
    const titles = ` ${title} ${heading}`.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const whole = ` ${text} `.includes(` ${word} `) ? 2 : 0;
      if (!whole && !` ${text}`.includes(` ${word}`) && !titles.includes(` ${word}`)) {
        return 0;
      }
      sum += 1 + whole + (titles.includes(` ${word}`) ? 6 : 0) + (heading === '' && titles.includes(` ${word}`) ? 3 : 0);
    }
    return sum;
  }

  async function search() {
    await load();
    const words = field.value.toLowerCase().split(/[^\w.-]+/).filter(word => word !== '');
    const found = words.length === 0 ? [] : INDEX.map(section => [score(section, words), section])
      .filter(each => each[0] > 0).sort((one, other) => other[0] - one[0]).slice(0, 12);
    list.replaceChildren(...found.map(([, [address, title, heading]]) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = up + address;
      link.textContent = heading === '' ? title : `${title}: ${heading}`;
      item.append(link);
      return item;
    }));
    if (words.length > 0 && found.length === 0) {
      const none = document.createElement('li');
      none.textContent = 'No section has all of these words.';
      list.append(none);
    }
  }

  field.addEventListener('input', search);
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      list.querySelector('a')?.click();
    } else if (event.key === 'Escape') {
      field.value = '';
      list.replaceChildren();
    }
  });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !/INPUT|TEXTAREA/.test(event.target.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
  document.querySelector('header').append(field, list);
  const asked = new URLSearchParams(location.search).get('q');
  if (asked) {
    field.value = asked;
    search();
  }
})();
