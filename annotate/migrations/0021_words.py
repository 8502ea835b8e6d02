"""Words that people read: no column changes."""

import annotate.models.study
import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0020_forms_sent_once'),
    ]

    operations = [
        migrations.AlterField(
            model_name='assignment',
            name='reason',
            field=models.CharField(choices=[('random', 'random'), ('suggested', 'suggested by the worker'), ('imported', 'imported'), ('training', 'practice'), ('gold', 'gold pair'), ('repeat', 'repeat')], default='random', max_length=10),
        ),
        migrations.AlterField(
            model_name='invitation',
            name='expires_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='valid until'),
        ),
        migrations.AlterField(
            model_name='invitation',
            name='max_uses',
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name='maximum number of people'),
        ),
        migrations.AlterField(
            model_name='judgment',
            name='answer',
            field=models.CharField(choices=[('left', 'left'), ('right', 'right'), ('tie', 'equally important'), ('undone', 'undone')], max_length=6),
        ),
        migrations.AlterField(
            model_name='knownpair',
            name='better',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.sentence', verbose_name='more important sentence'),
        ),
        migrations.AlterField(
            model_name='knownpair',
            name='explanation',
            field=models.TextField(blank=True, max_length=2000, verbose_name='explanation'),
        ),
        migrations.AlterField(
            model_name='knownpair',
            name='use',
            field=models.CharField(choices=[('training', 'practice pair'), ('gold', 'gold pair')], default='gold', max_length=8, verbose_name='use'),
        ),
        migrations.AlterField(
            model_name='knownpair',
            name='worse',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.sentence', verbose_name='less important sentence'),
        ),
        migrations.AlterField(
            model_name='participation',
            name='outcome',
            field=models.CharField(choices=[('working', 'in progress'), ('done', 'done'), ('screened_out', 'screened out'), ('no_work', 'no work left'), ('withdrawn', 'withdrawn')], default='working', max_length=12),
        ),
        migrations.AlterField(
            model_name='preview',
            name='state',
            field=models.CharField(choices=[('waiting', 'being computed'), ('ready', 'ready'), ('failed', 'failed')], default='waiting', max_length=10),
        ),
        migrations.AlterField(
            model_name='recruitment',
            name='code_done',
            field=models.CharField(blank=True, max_length=100, verbose_name='code for “done”'),
        ),
        migrations.AlterField(
            model_name='recruitment',
            name='code_no_work',
            field=models.CharField(blank=True, max_length=100, verbose_name='code for “no work left”'),
        ),
        migrations.AlterField(
            model_name='recruitment',
            name='code_screened_out',
            field=models.CharField(blank=True, max_length=100, verbose_name='code for “screened out”'),
        ),
        migrations.AlterField(
            model_name='recruitment',
            name='person_parameter',
            field=models.CharField(default='PROLIFIC_PID', max_length=60, validators=[django.core.validators.RegexValidator('\\A[A-Za-z][A-Za-z0-9_.-]*\\Z', 'Use only letters, digits, “_”, “-” and “.”.')], verbose_name='participant parameter'),
        ),
        migrations.AlterField(
            model_name='recruitment',
            name='return_url',
            field=models.CharField(blank=True, max_length=500, validators=[django.core.validators.RegexValidator('\\Ahttps?://[^\\s<>\\"]+\\Z', 'The address must begin with https://.')], verbose_name='return address'),
        ),
        migrations.AlterField(
            model_name='recruitment',
            name='session_parameter',
            field=models.CharField(blank=True, default='SESSION_ID', max_length=60, validators=[django.core.validators.RegexValidator('\\A[A-Za-z][A-Za-z0-9_.-]*\\Z', 'Use only letters, digits, “_”, “-” and “.”.')], verbose_name='session parameter'),
        ),
        migrations.AlterField(
            model_name='study',
            name='gold_share',
            field=models.FloatField(default=0.0, help_text='From 0 to 0.5, for example 0.1 for one pair in ten. Your gold pairs are hidden among the others. They are part of an annotator’s work, but never count towards scores.', validators=[annotate.models.study.finite, django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(0.5)], verbose_name='share of gold pairs'),
        ),
        migrations.AlterField(
            model_name='study',
            name='guidelines',
            field=models.TextField(blank=True, help_text='What counts as important in this study, with an example or two. Annotators read this before they begin and can open it beside every pair.', max_length=20000, verbose_name='guidelines'),
        ),
        migrations.AlterField(
            model_name='study',
            name='judgments_per_hour',
            field=models.PositiveIntegerField(default=0, help_text='Whoever reaches the limit is asked to continue later. 0 means no limit.', validators=[django.core.validators.MaxValueValidator(100000)], verbose_name='judgments per annotator and hour'),
        ),
        migrations.AlterField(
            model_name='study',
            name='judgments_per_pair',
            field=models.PositiveSmallIntegerField(default=1, help_text='How many annotators judge the same pair. With 1, judgments cover the most pairs; with 2 or more, you can measure agreement.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='judgments per pair'),
        ),
        migrations.AlterField(
            model_name='study',
            name='judgments_per_topic',
            field=models.PositiveIntegerField(default=300, help_text='How many answers to collect for each topic. A few hundred are a good start. The leaderboard shows how wide the intervals are, and you can ask for more at any time.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)], verbose_name='judgments per topic'),
        ),
        migrations.AlterField(
            model_name='study',
            name='language',
            field=models.CharField(default='en', help_text='A tag such as en, de or zh-Hans. It decides how texts are split into sentences and how a screen reader pronounces them.', max_length=35, validators=[django.core.validators.RegexValidator('\\A(?:[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3})\\Z', 'Enter a language tag such as en, de or pt-BR.')], verbose_name='language of the texts'),
        ),
        migrations.AlterField(
            model_name='study',
            name='match',
            field=models.CharField(choices=[('any', 'most similar sentence, full value (as in the paper)'), ('similarity', 'most similar sentence, weighted by the root of its similarity'), ('content', 'all sentences, weighted by shared words')], default='content', help_text='Whether a sentence of a summary earns the value of the most similar source sentence (fully, or less if it is less similar), or the values of all source sentences that share words with it.', max_length=12, verbose_name='match'),
        ),
        migrations.AlterField(
            model_name='study',
            name='normalize',
            field=models.CharField(choices=[('length', 'the summary’s own length (as in the paper)'), ('budget', 'a common length'), ('pivot', 'a length between the summary’s own and a common one')], default='pivot', help_text='The own length favors short summaries, a common length favors long ones, and a length between them neither. If all summaries have the same length, there is no difference.', max_length=12, verbose_name='divided by'),
        ),
        migrations.AlterField(
            model_name='study',
            name='pairs_per_annotator',
            field=models.PositiveIntegerField(default=30, help_text='After this number of pairs, an annotator is done.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100000)], verbose_name='pairs per annotator'),
        ),
        migrations.AlterField(
            model_name='study',
            name='person_cap',
            field=models.FloatField(default=0.05, help_text='From 0 to 1. An annotator gives at most this share of a topic’s judgments, or three times an even share among all who joined, or an even spread of their own pairs over the topics, whichever is largest. 1 means no limit.', validators=[annotate.models.study.finite, django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)], verbose_name='maximum share of a topic per annotator'),
        ),
        migrations.AlterField(
            model_name='study',
            name='pilot',
            field=models.BooleanField(default=False, help_text='Owners, researchers, admins and whoever uploaded texts normally cannot judge, because they see the results. Turn this on to try things out. Their judgments then count like all others.', verbose_name='members of the study may judge (a pilot)'),
        ),
        migrations.AlterField(
            model_name='study',
            name='prior',
            field=models.FloatField(default=1.0, help_text='Every sentence gets this many virtual wins and losses against an average sentence, which keeps utilities finite. 0 is the paper’s model; it needs wins that connect every sentence with every other. The kernel prior replaces this setting.', validators=[annotate.models.study.finite, django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1000.0)], verbose_name='prior'),
        ),
        migrations.AlterField(
            model_name='study',
            name='question',
            field=models.CharField(default='Which of these two sentences contains more important information?', help_text='Shown above every pair of sentences. Keep it short. A topic can have its own question.', max_length=300, verbose_name='question'),
        ),
        migrations.AlterField(
            model_name='study',
            name='random_share',
            field=models.FloatField(default=0.2, help_text='From 0 to 1. This share of the pairs is drawn at random instead of chosen by the worker. Agreement on random pairs can be compared between studies.', validators=[annotate.models.study.finite, django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)], verbose_name='share of random pairs'),
        ),
        migrations.AlterField(
            model_name='study',
            name='reading_speed',
            field=models.PositiveIntegerField(default=100, help_text='Whoever answers faster is asked kindly to read both sentences; the answer still counts. People read about 25 characters per second. 0 means no limit.', validators=[django.core.validators.MaxValueValidator(10000)], verbose_name='reading speed limit (characters per second)'),
        ),
        migrations.AlterField(
            model_name='study',
            name='redundancy',
            field=models.BooleanField(default=True, help_text='A word pair that a summary repeats counts once (equation 5).', verbose_name='repetition earns nothing'),
        ),
        migrations.AlterField(
            model_name='study',
            name='repeat_share',
            field=models.FloatField(default=0.0, help_text='From 0 to 0.5. An annotator’s earlier pair is shown again, at least five pairs later, with its sides swapped. This shows how consistent they are, and never counts twice.', validators=[annotate.models.study.finite, django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(0.5)], verbose_name='share of repeats'),
        ),
        migrations.AlterField(
            model_name='study',
            name='seed',
            field=models.PositiveBigIntegerField(default=0, help_text='Makes the random parts of the computation repeatable.', verbose_name='seed'),
        ),
        migrations.AlterField(
            model_name='study',
            name='show_progress',
            field=models.BooleanField(default=True, help_text='For example “pair 13 of 30”, and about how many minutes are left.', verbose_name='show annotators their progress'),
        ),
        migrations.AlterField(
            model_name='study',
            name='similarity',
            field=models.CharField(choices=[('tfidf-jaccard', 'mean of TF-IDF cosine and Jaccard index (as in the paper)'), ('tfidf', 'TF-IDF cosine'), ('jaccard', 'Jaccard index')], default='tfidf-jaccard', help_text='How the similarity of two sentences is measured, for smoothing and for matching summaries with sources.', max_length=40, verbose_name='similarity'),
        ),
        migrations.AlterField(
            model_name='study',
            name='skips_in_a_row',
            field=models.PositiveSmallIntegerField(default=10, help_text='After half as many, the page asks kindly whether something is wrong. After this number, the annotator is thanked and leaves with the code for “screened out”. 0 means no limit.', validators=[django.core.validators.MaxValueValidator(1000)], verbose_name='skips in a row that end participation'),
        ),
        migrations.AlterField(
            model_name='study',
            name='smooth',
            field=models.CharField(choices=[('paper', 'as in the paper'), ('sharpened', 'sharpened similarities'), ('kernel', 'kernel prior'), ('none', 'none')], default='kernel', help_text='A judgment also says something about similar sentences. The paper’s smoothing helps with few judgments and blurs with many; “none” uses judgments alone.', max_length=12, verbose_name='smoothing'),
        ),
        migrations.AlterField(
            model_name='study',
            name='ties_allowed',
            field=models.BooleanField(default=False, help_text='A tie counts as half a win for each side. Otherwise annotators must choose one of the two.', verbose_name='“equally important” is an answer'),
        ),
        migrations.AlterField(
            model_name='study',
            name='training',
            field=models.BooleanField(default=False, help_text='Annotators first judge your practice pairs and see the expected answer and your explanation after each. Practice never counts. Without practice pairs, this has no effect.', verbose_name='start with practice pairs'),
        ),
        migrations.AlterField(
            model_name='study',
            name='training_threshold',
            field=models.FloatField(default=0.6, help_text='From 0 to 1. With fewer, an annotator is thanked and leaves with the code for “screened out”. With 2 practice pairs, 0.6 means that both must match. 0 lets everybody continue.', validators=[annotate.models.study.finite, django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)], verbose_name='share of practice answers that must match'),
        ),
        migrations.AlterField(
            model_name='study',
            name='value',
            field=models.CharField(choices=[('strength', 'strength (as in the paper)'), ('chance', 'probability of being preferred')], default='chance', help_text='What a summary earns for a source sentence. With strengths, a few sentences have nearly all of the value. Probabilities are spread more evenly and can be compared between topics.', max_length=12, verbose_name='value of a sentence'),
        ),
        migrations.AlterField(
            model_name='study',
            name='weigh_annotators',
            field=models.BooleanField(default=False, help_text='Judgments of annotators who agree more with the others on the topic count more. This helps if some people click at random, and costs almost nothing if nobody does.', verbose_name='annotators weighted by reliability'),
        ),
        migrations.AlterField(
            model_name='token',
            name='read_only',
            field=models.BooleanField(default=False, verbose_name='read-only'),
        ),
        migrations.AlterField(
            model_name='upload',
            name='state',
            field=models.CharField(choices=[('waiting', 'waiting to be read'), ('ready', 'waiting for your confirmation'), ('refused', 'refused'), ('confirmed', 'being stored'), ('stored', 'stored'), ('discarded', 'discarded'), ('failed', 'failed')], default='waiting', max_length=10),
        ),
    ]
