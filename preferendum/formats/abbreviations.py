"""Words with a full stop that end no sentence, by language, in lower case: where sentencex cuts and a reader does not.

Only those that hardly ever end a sentence: no "etc.", "usw." or "т. д.".
"""

from __future__ import annotations

from collections.abc import Mapping

_ANYWHERE = "dr prof mr mrs ms ing st"

#: Titles, and what else stands before a name or inside of a sentence, without the full stop.
BEFORE_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(f"{_ANYWHERE} {words}".split())
    for language, words in {
        "ar": "د أ م",
        "bg": "г-н г-жа д-р проф доц акад св ул бул пл инж арх ген напр т.нар",
        "bn": "ড ডা মো প্রফ অধ্যা শ্রী মি মিসেস মোঃ",
        "bs": "g gđa gdin gđica mr sv ul tzv npr tj kap",
        "ca": "sr sra srs sres dra d sta av avda c p.ex",
        "cs": "p pí mgr mudr mvdr judr phdr rndr paeddr thdr bc doc sv ul nám tř gen plk mjr kpt tzv např mj tj cca",
        "da": "hr fr frk ca bl.a f.eks d.v.s kgl skt sct cand adv dir sgt",
        "de": "hr hrn fr frl dipl hl geb gest verh bzw ca d.h evtl ggf inkl exkl sog vgl z.b bspw insb einschl zzgl "
        "abzgl mind ehem u.a.m str.-nr priv univ akad hptm präs abg fam gebr fa hrsg inh red dt gegr jur phil rer nat "
        "lic gem univ.-prof dipl.-ing dr.-ing",
        "el": "κ κα κκ κος δις δρ καθ αγ άγ οδ λεωφ π.χ δηλ βλ υπ",
        "es": "sr sra sres sras srta srtas dra dres profa d dña lic arq gral cnel cap cmdte sto sta mons excmo excma "
        "ilmo ilma rvdo av avda avd p.ej vda hnos cía pdte dpto depto univ sen dip gob bs",
        "fi": "tri toht maist hra rva nti esim ns ks vrt mm kapt kenr ev",
        "fr": "m mm mme mmes mlle mlles mgr drs pr prs ste sts cdt col gén lt sgt adj av bd cf env vve sr fr cie sté "
        "ets dir",
        "gu": "ડૉ ડો શ્રી પ્રો",
        "hi": "डॉ डा श्री प्रो पं कु मो स्व सुश्री",
        "hr": "g gđa gdin gđica mr sv ul tzv npr tj kap",
        "hu": "özv ifj id kb pl ún vö",
        "id": "ir drs dra h hj tn ny jl sdr kol jend",
        "it": "sig sigg sig.ra sigra dott dott.ssa prof.ssa avv arch geom rag on sen gen col cap mons s ss sta c.so "
        "p.za gent egr spett dr.ssa univ dir pres avv.ti dott.ri",
        "kn": "ಡಾ ಶ್ರೀ ಪ್ರೊ",
        "ml": "ഡോ ശ്രീ പ്രൊഫ",
        "mr": "डॉ श्री प्रो पं कु सौ",
        "nb": "hr fr frk ca bl.a f.eks d.v.s",
        "ne": "डा डॉ श्री प्रा पं",
        "nl": "dhr mevr mw mej drs mr ir ds jhr gen kol bijv o.a i.v.m d.w.z m.b.t t.a.v z.g.a.n zgn resp h.h lt fam "
        "staatssecr weth zr",
        "nn": "hr fr frk ca bl.a f.eks d.v.s",
        "no": "hr fr frk ca bl.a f.eks d.v.s",
        "pa": "ਡਾ ਸ੍ਰੀ ਪ੍ਰੋ",
        "pl": "p pp mgr inż hab ks o bp abp kard św bł gen płk ppłk mjr kpt por ul al pl im tzw np m.in tj ww mec red "
        "min prez wicemin pos woj gm pow os ppor dyr",
        "pt": "sr sra srs sras srta dra drs dras profa d eng arq gen cel cap ten sgt exmo exma ilmo ilma rev "
        "pe av p.ex mons sta des min dep pres gov profª cia pça",
        "ro": "dl dna d-na d-l dlui dnei av sf gen col str bd acad conf lect",
        "ru": "ул пр просп пер пл наб им проф акад доц д-р св гр тов ген полк кап оз напр см ср г-н г-жа т.н т.е т.к о "
        "стр-во обл пос дер адм инж деп пгт мкр зам нач пом мл канд",
        "sk": "p mgr mudr judr phdr rndr paeddr bc doc sv ul nám gen plk mjr kpt tzv napr tj cca",
        "sl": "g gdč sv ul t.i npr tj kap",
        "sr": "g gđa gdin gđica mr sv ul tzv npr tj kap др проф г-ђа г-дин св ул тзв нпр",
        "sv": "hr fr frk ca bl.a t.ex d.v.s s.k kapt kgl st:a dir",
        "ta": "திரு திருமதி டாக்டர் பேரா முனைவர்",
        "te": "డా శ్రీ ప్రొ శ్రీమతి",
        "th": "ดร ศ รศ ผศ นพ พญ พล.อ พล.ต น.ส ด.ช ด.ญ พ.ศ ค.ศ",
        "tr": "sn doç yrd av müh alb gen yzb org op uzm hz cad sok mah bkz örn mim ecz öğr bşk bkn tğm üniv",
        "uk": "м вул просп пл пер проф акад доц св ім гр напр див пані ген смт інж обл канд",
        "vi": "ts gs ths bs tp pgs",
    }.items()
}

# Months, before a year; only those that are no other words.
_MONTHS = {
    "bg": "ян февр апр авг септ окт ноем дек",
    "el": "ιαν φεβ φεβρ μαρ απρ ιουν ιούν ιουλ ιούλ αυγ αύγ σεπ σεπτ οκτ νοε νοέ δεκ",
    "es": "ene feb abr jun jul ago sep sept oct nov dic",
    "fr": "janv févr fév avr juil sept oct nov déc",
    "hu": "jan febr márc ápr máj jún júl aug szept okt nov dec",
    "id": "jan feb agu sep okt nov des",
    "it": "genn gen febbr feb apr magg giu lug ago sett ott nov dic",
    "nb": "jan feb apr aug sept okt nov des",
    "nl": "jan feb mrt apr jun jul aug sep sept okt nov dec",
    "nn": "jan feb apr aug sept okt nov des",
    "no": "jan feb apr aug sept okt nov des",
    "pl": "stycz lut kwiec czerw sierp wrz paź paźdz grudz",
    "pt": "jan fev abr jun jul ago set out nov dez",
    "ro": "ian feb apr iun iul aug sept oct nov dec",
    "ru": "янв февр фев апр авг сент сен окт нояб дек",
    "sv": "jan feb apr aug sept okt nov dec",
    "tr": "oca şub nis tem ağu eyl",
    "uk": "січ лют берез квіт черв серп верес жовт листоп груд",
}

#: What stands before a number, without the full stop.
BEFORE_NUMBERS: Mapping[str, frozenset[str]] = {
    language: frozenset(f"{words} {_MONTHS.get(language, '')}".split())
    for language, words in {
        "ar": "ص رقم",
        "bg": "чл ал т стр с бр",
        "ca": "art arts pàg pàgs p pp núm n cap vol fig tel",
        "cs": "č čl str s odst písm tab obr kap roč",
        "da": "nr s kap art stk kl fig bd tlf",
        "de": "nr nrn s bd art abs kap anm abb tab ziff vol rz rn tel jg heft",
        "el": "αρ άρ σελ σ άρθ άρθρ αριθ κεφ τ τόμ εικ παρ τηλ ν",
        "es": "art arts pág págs p pp núm núms n cap vol fig t tel aprox ed máx mín ctra",
        "fi": "s nro luku puh kpl",
        "fr": "art arts p pp n no nos chap vol fig t al par éd tél bât apt réf tabl max min env",
        "hi": "सं पृ क्र",
        "hr": "čl st str br tel",
        "hu": "sz tel max évf",
        "id": "no hal psl telp tel hlm",
        "it": "art artt pag pagg p pp n nn nr cap vol fig tel c tav max min",
        "nb": "nr s kap art kl fig bd tlf tel maks",
        "nn": "nr s kap art kl fig bd tlf tel maks",
        "nl": "art artt blz p pp nr nrs vol fig hfst tel afb ong postb",
        "no": "nr s kap art kl fig bd tlf tel maks",
        "pl": "art ust pkt nr str s poz par rozdz t tab rys tel ok godz min maks wyd pok",
        "pt": "art arts pág págs p pp n núm núms cap vol fig inc t tel aprox ed apto máx mín",
        "ro": "art alin nr pag p cap vol fig tel aprox max min",
        "ru": "ст п пп с стр гл рис табл ч т вып д кв корп тел ок прибл макс мин разд изд",
        "sk": "č čl str s ods písm tab obr kap",
        "sr": "čl st str br чл ст стр бр",
        "sv": "nr s sid kap kl fig art mom tel max min bil uppl",
        "tr": "no s sf md cilt c tel m.ö m.s mad böl şek",
        "uk": "ст п с стр гл рис табл ч т тел бл прибл макс мін розд",
    }.items()
}

#: Languages that write ordinals with a full stop, and words in lower case that begin a sentence after a number.
ORDINALS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "bs": "on ona oni to u na i a ali je po za od do kad",
        "cs": "on ona oni to v ve na a ale i ten ta je po za od do podle když však",
        "da": "den det de han hun jeg vi i på og men der da når så en et for til fra med efter",
        "de": "der die das dem den er sie es wir ich ihr in im am an auf bei mit nach und aber doch auch als wenn dann "
        "da so man dies diese dieser dieses ein eine seit vor für zu zum zur von vom danach dabei dazu damit dort hier "
        "heute jetzt nun später schließlich trotzdem dennoch deshalb daher außerdem allerdings jedoch weil was wer wie "
        "wo",
        "et": "ta see nad ja aga kui ma me",
        "eu": "hau hori eta baina",
        "fi": "hän se he ne minä me sen tämä mutta ja kun jos siksi myös nyt",
        "hr": "on ona oni to u na i a ali je po za od do kad",
        "hu": "a az ő ez és de ha ma nem egy",
        "is": "hann hún það þeir í á og en",
        "lt": "jis ji tai ir bet kai",
        "lv": "viņš viņa tas un bet kad",
        "nb": "den det de han hun jeg vi i på og men der da når så en et for til fra med etter",
        "nn": "den det dei han ho eg vi i på og men der då når så ein eit for til frå med etter",
        "no": "den det de han hun jeg vi i på og men der da når så en et for til fra med etter",
        "pl": "on ona oni to w we na i a ale ten ta po za od do gdy jednak nie",
        "sk": "on ona oni to v vo na a ale i ten tá je po za od do podľa keď však",
        "sl": "on ona oni to v na in a je po za od do ko",
        "sr": "on ona oni to u na i a ali je po za od do kad он она они то у на и а али је по за од до кад",
        "tr": "bu o ve ama ben biz bir şu ancak sonra",
    }.items()
}
